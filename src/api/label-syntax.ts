/** Syntax of label keys and values, with the API server's own words for what is wrong. */

const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const VALUE = `(${NAME})?`;
const DNS_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${DNS_LABEL}(\\.${DNS_LABEL})*`;
const NAME_BYTES_MAX = 63;
const SUBDOMAIN_BYTES_MAX = 253;
const utf8 = new TextEncoder();

const NAME_WORDS =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  `alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', ${usedRegex(NAME)})`;
const VALUE_WORDS =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
  "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or " +
  `'12345', ${usedRegex(VALUE)})`;
const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or " +
  "'.', and must start and end with an alphanumeric character (e.g. 'example.com', " +
  `${usedRegex(SUBDOMAIN)})`;

const nameRegex = new RegExp(`^${NAME}$`);
const valueRegex = new RegExp(`^${VALUE}$`);
const subdomainRegex = new RegExp(`^${SUBDOMAIN}$`);

function usedRegex(regex: string): string {
  return `regex used for validation is '${regex}'`;
}

function tooLong(text: string, bytesMax: number): string[] {
  return utf8.encode(text).length > bytesMax ? [`must be no more than ${bytesMax} bytes`] : [];
}

function subdomainProblems(text: string): string[] {
  const problems = tooLong(text, SUBDOMAIN_BYTES_MAX);
  if (!subdomainRegex.test(text)) problems.push(SUBDOMAIN_WORDS);
  return problems;
}

/** What is wrong with a label key ("name" or "dns.sub.domain/name"); empty if nothing. */
export function labelKeyProblems(key: string): string[] {
  const parts = key.split('/');
  if (parts.length > 2) {
    return [
      `a valid label key ${NAME_WORDS} with an optional DNS subdomain prefix and '/' ` +
        "(e.g. 'example.com/MyName')",
    ];
  }
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined) {
    problems.push(...subdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  }
  if (name === '') problems.push('name part must be non-empty');
  else problems.push(...tooLong(name, NAME_BYTES_MAX).map((problem) => `name part ${problem}`));
  if (!nameRegex.test(name)) problems.push(`name part ${NAME_WORDS}`);
  return problems;
}

/** What is wrong with a label value; empty if nothing. */
export function labelValueProblems(value: string): string[] {
  const problems = tooLong(value, NAME_BYTES_MAX);
  if (!valueRegex.test(value)) problems.push(VALUE_WORDS);
  return problems;
}
