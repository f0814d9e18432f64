/** What the server is told: where to listen, whom to trust, what is open to everyone. */

/** Serving flags, already checked. Paths are files; "" means not given. */
export interface ServeOptions {
  readonly bindAddress: string;
  /** Others that share it as well may listen on the same port (SO_REUSEPORT). */
  readonly sharePort: boolean;
  /** 0: no HTTPS at all. */
  readonly port: number;
  readonly certFile: string;
  readonly keyFile: string;
  /** Folder for a self-signed pair that is kept; "": in memory only. */
  readonly certDir: string;
  readonly minVersion: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
  /** IANA names; empty: the runtime's own choice. */
  readonly cipherSuites: readonly string[];
  /** Names as OpenSSL has them; empty: the runtime's own choice. */
  readonly curves: readonly string[];
  readonly namedCertificates: readonly NamedPair[];
  readonly clientCaFile: string;
  readonly requestHeader: RequestHeaderOptions;
  readonly alwaysAllowPaths: readonly string[];
  readonly tokenCacheTtlMs: number;
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly profiling: boolean;
}

/** A certificate for clients that ask for one of the names (none: those in the certificate). */
export interface NamedPair {
  readonly certFile: string;
  readonly keyFile: string;
  readonly names: readonly string[];
}

/** Trust in a front proxy that names the user in headers. */
export interface RequestHeaderOptions {
  readonly caFile: string;
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** Who asks. */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid: string;
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export const ANONYMOUS: User = {
  name: 'system:anonymous',
  groups: ['system:unauthenticated'],
  uid: '',
  extra: {},
};

/** Answers of the API server about tokens and permissions; absent: not configured. */
export interface Reviews {
  /** The user of a bearer token, or undefined if it is not valid. Throws if it can't be asked. */
  reviewToken?(token: string, signal: AbortSignal): Promise<User | undefined>;
  /** Whether a user may do this. Throws if it can't be asked. */
  reviewAccess?(user: User, verb: string, path: string, signal: AbortSignal): Promise<AccessAnswer>;
}

export interface AccessAnswer {
  readonly allowed: boolean;
  /** Refused for certain; without it nobody had an opinion. */
  readonly denied?: boolean;
  readonly reason: string;
}
