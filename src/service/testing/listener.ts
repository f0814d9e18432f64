/** The other end of NOTIFY_SOCKET, for tests: a bound datagram socket that is read on request. */
import { FFIType, ptr } from 'bun:ffi';
import { openCLibrary } from '../../runtime/c-library.ts';
import { unixAddress } from '../socket.ts';

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const DATAGRAM_BYTES = 4_096;

export interface Listener {
  /** All lines that have arrived since the last call, in order. */
  read(): string[];
  close(): void;
}

/** Listens on a path or on an abstract name behind "@". */
export function listen(name: string): Listener {
  const libc = openCLibrary({
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    bind: { args: [FFIType.i32, FFIType.ptr, FFIType.u32], returns: FFIType.i32 },
    recv: {
      args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32],
      returns: FFIType.i64,
    },
    close: { args: [FFIType.i32], returns: FFIType.i32 },
  });
  if (libc === undefined) throw new Error('no C library');
  const address = unixAddress(name);
  const socket = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (libc.bind(socket, ptr(address), address.length) !== 0) throw new Error(`can't bind ${name}`);
  const room = new Uint8Array(DATAGRAM_BYTES);
  return {
    read() {
      const lines: string[] = [];
      for (;;) {
        const bytes = Number(libc.recv(socket, ptr(room), room.length, MSG_DONTWAIT));
        if (bytes < 0) return lines;
        lines.push(...new TextDecoder().decode(room.subarray(0, bytes)).split('\n'));
      }
    },
    close: () => void libc.close(socket),
  };
}
