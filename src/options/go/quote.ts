/** Go's %q, as the rules of the API need it too. */
export { quote, quoteList, quoteRune } from '../../api/go-quote.ts';
