/** Flags for HTTPS, authentication and authorization. */
import { cipherSuitesHelp } from '../tls-names.ts';
import type { FlagCheck, FlagSection } from './row.ts';

const PORT_MAX = 65_535;

const portNumber: FlagCheck = (name, value) => {
  const found = `--${name} ${value} must be between`;
  if (Number(value) > PORT_MAX) {
    return `${found} 1 and 65535, inclusive. It cannot be turned off with 0`;
  }
  return Number(value) < 0
    ? `${found} 0 and 65535, inclusive. 0 for turning off secure port`
    : undefined;
};

/** Sections for HTTPS, authentication and authorization. */
export const SERVING_SECTIONS: readonly FlagSection[] = [
  {
    name: 'secure serving',
    rows: [
      {
        name: 'bind-address',
        kind: 'ip',
        default: '0.0.0.0',
        help:
          'The IP address on which to listen for the --secure-port port. The associated ' +
          'interface(s) must be reachable by the rest of the cluster, and by CLI/web clients. If ' +
          'blank or an unspecified address (0.0.0.0 or ::), all interfaces and IP address ' +
          'families will be used.',
      },
      {
        name: 'cert-dir',
        kind: 'string',
        help:
          'The directory where the TLS certs are located. If --tls-cert-file and ' +
          '--tls-private-key-file are provided, this flag will be ignored.',
      },
      {
        name: 'disable-http2-serving',
        kind: 'bool',
        help: 'If true, HTTP2 serving will be disabled [default=false]',
      },
      {
        name: 'http2-max-streams-per-connection',
        kind: 'int',
        unit: 'streams',
        help:
          'The limit that the server gives to clients for the maximum number of streams in an ' +
          "HTTP/2 connection. Zero means to use golang's default.",
      },
      {
        name: 'permit-address-sharing',
        kind: 'bool',
        help:
          'If true, SO_REUSEADDR will be used when binding the port. This allows binding to ' +
          'wildcard IPs like 0.0.0.0 and specific IPs in parallel, and it avoids waiting for the ' +
          'kernel to release sockets in TIME_WAIT state. [default=false]',
      },
      {
        name: 'permit-port-sharing',
        kind: 'bool',
        help:
          'If true, SO_REUSEPORT will be used when binding the port, which allows more than one ' +
          'instance to bind on the same address and port. [default=false]',
      },
      {
        name: 'secure-port',
        kind: 'int',
        default: '10257',
        help:
          "The port on which to serve HTTPS with authentication and authorization. If 0, don't " +
          'serve HTTPS at all.',
        check: portNumber,
      },
      {
        name: 'tls-cert-file',
        kind: 'string',
        help:
          'File containing the default x509 Certificate for HTTPS. (CA cert, if any, concatenated ' +
          'after server cert). If HTTPS serving is enabled, and --tls-cert-file and ' +
          '--tls-private-key-file are not provided, a self-signed certificate and key are ' +
          'generated for the public address and saved to the directory specified by --cert-dir.',
      },
      {
        name: 'tls-cipher-suites',
        kind: 'strings',
        help: cipherSuitesHelp(),
      },
      {
        name: 'tls-curve-preferences',
        kind: 'int32s',
        help:
          'Comma-separated list of numeric Go crypto/tls CurveID values, as the allowed key ' +
          'exchange mechanisms for the server. The supported values depend on the Go version ' +
          'used. See https://pkg.go.dev/crypto/tls#CurveID for values supported for each Go ' +
          'version. The order of the list is ignored, and key exchange mechanisms are chosen by ' +
          'Go from this list using an internal preference order. If omitted, the default Go ' +
          'curves will be used.',
      },
      {
        name: 'tls-min-version',
        kind: 'string',
        help:
          'Minimum TLS version supported. Possible values: VersionTLS10, VersionTLS11, ' +
          'VersionTLS12, VersionTLS13',
      },
      {
        name: 'tls-private-key-file',
        kind: 'string',
        help: 'File containing the default x509 private key matching --tls-cert-file.',
      },
      {
        name: 'tls-sni-cert-key',
        kind: 'namedCertificates',
        help:
          'A pair of x509 certificate and private key file paths, optionally suffixed with a list ' +
          'of domain patterns which are fully qualified domain names, possibly with prefixed ' +
          'wildcard segments. The domain patterns also allow IP addresses, but IPs should only be ' +
          'used if the apiserver has visibility to the IP address requested by a client. If no ' +
          'domain patterns are provided, the names of the certificate are extracted. Non-wildcard ' +
          'matches trump over wildcard matches, explicit domain patterns trump over extracted ' +
          'names. For multiple key/certificate pairs, use the --tls-sni-cert-key multiple times. ' +
          'Examples: "example.crt,example.key" or "foo.crt,foo.key:*.foo.com,foo.com".',
      },
    ],
  },
  {
    name: 'authentication',
    rows: [
      {
        name: 'authentication-kubeconfig',
        kind: 'string',
        help:
          "kubeconfig file pointing at the 'core' kubernetes server with enough rights to create " +
          'tokenreviews.authentication.k8s.io. This is optional. If empty, all token requests are ' +
          'considered to be anonymous and no client CA is looked up in the cluster.',
      },
      {
        name: 'authentication-skip-lookup',
        kind: 'bool',
        help:
          'If false, the authentication-kubeconfig will be used to lookup missing authentication ' +
          'configuration from the cluster.',
      },
      {
        name: 'authentication-token-webhook-cache-ttl',
        kind: 'duration',
        default: '10s',
        help: 'The duration to cache responses from the webhook token authenticator.',
      },
      {
        name: 'authentication-tolerate-lookup-failure',
        kind: 'bool',
        help:
          'If true, failures to look up missing authentication configuration from the cluster are ' +
          'not considered fatal. Note that this can result in authentication that treats all ' +
          'requests as anonymous.',
      },
      {
        name: 'client-ca-file',
        kind: 'string',
        help:
          'If set, any request presenting a client certificate signed by one of the authorities ' +
          'in the client-ca-file is authenticated with an identity corresponding to the ' +
          'CommonName of the client certificate.',
      },
      {
        name: 'requestheader-allowed-names',
        kind: 'strings',
        help:
          'List of client certificate common names to allow to provide usernames in headers ' +
          'specified by --requestheader-username-headers. If empty, any client certificate ' +
          'validated by the authorities in --requestheader-client-ca-file is allowed.',
      },
      {
        name: 'requestheader-client-ca-file',
        kind: 'string',
        help:
          'Root certificate bundle to use to verify client certificates on incoming requests ' +
          'before trusting usernames in headers specified by --requestheader-username-headers. ' +
          'WARNING: generally do not depend on authorization being already done for incoming ' +
          'requests.',
      },
      {
        name: 'requestheader-extra-headers-prefix',
        kind: 'strings',
        default: 'x-remote-extra-',
        help: 'List of request header prefixes to inspect. X-Remote-Extra- is suggested.',
      },
      {
        name: 'requestheader-group-headers',
        kind: 'strings',
        default: 'x-remote-group',
        help: 'List of request headers to inspect for groups. X-Remote-Group is suggested.',
      },
      {
        name: 'requestheader-uid-headers',
        kind: 'strings',
        help:
          'List of request headers to inspect for UIDs. X-Remote-Uid is suggested. Requires the ' +
          'RemoteRequestHeaderUID feature to be enabled.',
      },
      {
        name: 'requestheader-username-headers',
        kind: 'strings',
        default: 'x-remote-user',
        help: 'List of request headers to inspect for usernames. X-Remote-User is common.',
      },
    ],
  },
  {
    name: 'authorization',
    rows: [
      {
        name: 'authorization-always-allow-paths',
        kind: 'strings',
        default: '/healthz,/readyz,/livez',
        help:
          'A list of HTTP paths to skip during authorization, i.e. these are authorized without ' +
          "contacting the 'core' kubernetes server.",
      },
      {
        name: 'authorization-kubeconfig',
        kind: 'string',
        help:
          "kubeconfig file pointing at the 'core' kubernetes server with enough rights to create " +
          'subjectaccessreviews.authorization.k8s.io. This is optional. If empty, all requests ' +
          'not skipped by authorization are forbidden.',
      },
      {
        name: 'authorization-webhook-cache-authorized-ttl',
        kind: 'duration',
        default: '10s',
        help: "The duration to cache 'authorized' responses from the webhook authorizer.",
      },
      {
        name: 'authorization-webhook-cache-unauthorized-ttl',
        kind: 'duration',
        default: '10s',
        help: "The duration to cache 'unauthorized' responses from the webhook authorizer.",
      },
    ],
  },
];
