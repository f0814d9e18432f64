/** SQL files imported as text are embedded in the binary. */
declare module '*.sql' {
  const text: string;
  export = text;
}
