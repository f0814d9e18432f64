/**
 * The datagram socket that a service manager listens on. Bun has none of that family, so this is
 * the C library's own: socket, sendto, close.
 */
import { FFIType, ptr } from 'bun:ffi';
import { openCLibrary } from '../runtime/c-library.ts';

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const FAMILY_BYTES = 2;
/** Of sun_path, with the zero byte that ends a path. */
const PATH_BYTES = 108;

/** Sends to one address. */
export interface NotifySocket {
  /** Sends one datagram, never waiting; false if it did not leave. */
  send(text: string): boolean;
  close(): void;
}

/**
 * A `sockaddr_un` for a path, or for an abstract name behind "@". Throws naming NOTIFY_SOCKET for
 * anything else.
 */
export function unixAddress(name: string): Uint8Array<ArrayBuffer> {
  const isAbstract = name.startsWith('@');
  const bytes = Buffer.from(name, 'utf8');
  const most = isAbstract ? PATH_BYTES : PATH_BYTES - 1;
  if ((!isAbstract && !name.startsWith('/')) || bytes.length < 2 || bytes.length > most) {
    const valid = `a path that begins with /, or @ and a name, of at most ${most} bytes`;
    throw new Error(`NOTIFY_SOCKET: found ${JSON.stringify(name)}; valid is ${valid}`);
  }
  // An abstract name ends where the address ends, a path with a zero byte.
  const address = new Uint8Array(FAMILY_BYTES + bytes.length + (isAbstract ? 0 : 1));
  new DataView(address.buffer).setUint16(0, AF_UNIX, true);
  address.set(bytes, FAMILY_BYTES);
  if (isAbstract) address[FAMILY_BYTES] = 0;
  return address;
}

/** Opens a socket that sends to `name`. Throws if the name or the C library is of no use. */
export function openNotifySocket(name: string): NotifySocket {
  const address = unixAddress(name);
  const libc = openCLibrary({
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    sendto: {
      args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
      returns: FFIType.i64,
    },
    close: { args: [FFIType.i32], returns: FFIType.i32 },
  });
  if (libc === undefined) throw new Error('NOTIFY_SOCKET: the C library could not be opened');
  const socket = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) throw new Error('NOTIFY_SOCKET: no socket could be made');
  return {
    send(text) {
      const bytes = new TextEncoder().encode(text);
      const flags = MSG_DONTWAIT | MSG_NOSIGNAL;
      const to = ptr(address);
      return libc.sendto(socket, ptr(bytes), bytes.length, flags, to, address.length) >= 0n;
    },
    close: () => void libc.close(socket),
  };
}
