/**
 * Holdfast's entry. The compiled program starts itself once more, with settings that the engine
 * reads from the environment and only at its start; everything else is in `program.ts`.
 */

/**
 * Without its last tier of compilation the engine needs a fifth less CPU for the same work, and the
 * syncs themselves are no slower: they wait for the network, and little is hot for long.
 */
const ENGINE: Readonly<Record<string, string>> = { BUN_JSC_useFTLJIT: '0' };

function isCompiled(): boolean {
  return process.argv[1]?.startsWith('/$bunfs/') ?? false;
}

/** Replaces this process by itself under the engine's settings, unless each is set already. */
function settle(): void {
  const { env, execPath, argv0, argv } = process;
  if (!isCompiled() || Object.keys(ENGINE).every((name) => env[name] !== undefined)) return;
  try {
    process.execve?.(execPath, [argv0, ...argv.slice(2)], { ...ENGINE, ...env });
  } catch {
    // The file was replaced or must not be executed: it works as well, only at a higher price.
  }
}

settle();
await import('./program.ts');

export {};
