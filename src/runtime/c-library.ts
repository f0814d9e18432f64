/** The C library of this machine, glibc's or musl's, for what Bun has no call of its own for. */
import { dlopen, type FFIFunction, type Library } from 'bun:ffi';

const NAMES = ['libc.so.6', `libc.musl-${process.arch === 'x64' ? 'x86_64' : 'aarch64'}.so.1`];

/** Functions of the C library by name; undefined where neither library can be opened. */
export function openCLibrary<Functions extends Record<string, FFIFunction>>(
  functions: Functions,
): Library<Functions>['symbols'] | undefined {
  for (const name of NAMES) {
    try {
      return dlopen(name, functions).symbols;
    } catch {
      // The other one, then.
    }
  }
  return undefined;
}
