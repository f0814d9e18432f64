/** How this folder says that what the user configured can't be used. */

/** A kubeconfig, flag or credential file that can't be used; says what was found, what is valid. */
export class ConfigError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ConfigError';
  }
}

/** `<file>: <field> <found>; <valid>`: the one shape of these messages. */
export function wrong(
  file: string,
  field: string,
  found: string,
  valid: string,
  cause?: unknown,
): ConfigError {
  return new ConfigError(`${file}: ${field}${field === '' ? '' : ' '}${found}; ${valid}`, cause);
}

/** What the system says about a file that can't be read, in plain words. */
export function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const plain: Record<string, string> = {
    ENOENT: 'does not exist',
    EACCES: 'may not be read by this user',
    EISDIR: 'is a directory',
    ENOTDIR: 'lies below something that is no directory',
  };
  return plain[code] ?? `can't be read (${error instanceof Error ? error.message : String(error)})`;
}

/** A short list for messages: `"a", "b"`, or "nothing". */
export function quoted(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.map((name) => JSON.stringify(name)).join(', ');
}
