/** Flags of the controllers for certificates and tokens. */
import type { FlagSection } from './row.ts';

/** Sections of the controllers for certificates and tokens. */
export const IDENTITY_SECTIONS: readonly FlagSection[] = [
  {
    name: 'certificatesigningrequest-signing-controller',
    rows: [
      {
        name: 'cluster-signing-cert-file',
        kind: 'string',
        help:
          'Filename containing a PEM-encoded X509 CA certificate used to issue cluster-scoped ' +
          'certificates.  If specified, no more specific --cluster-signing-* flag may be ' +
          'specified.',
      },
      {
        name: 'cluster-signing-duration',
        kind: 'duration',
        default: '8760h',
        help:
          'The max length of duration signed certificates will be given.  Individual CSRs may ' +
          'request shorter certs by setting spec.expirationSeconds.',
      },
      {
        name: 'cluster-signing-key-file',
        kind: 'string',
        help:
          'Filename containing a PEM-encoded RSA or ECDSA private key used to sign cluster-scoped ' +
          'certificates.  If specified, no more specific --cluster-signing-* flag may be ' +
          'specified.',
      },
      {
        name: 'cluster-signing-kube-apiserver-client-cert-file',
        kind: 'string',
        help:
          'Filename containing a PEM-encoded X509 CA certificate used to issue certificates for ' +
          'the kubernetes.io/kube-apiserver-client signer.  If specified, ' +
          '--cluster-signing-{cert,key}-file must not be set.',
      },
      {
        name: 'cluster-signing-kube-apiserver-client-key-file',
        kind: 'string',
        help:
          'Filename containing a PEM-encoded RSA or ECDSA private key used to sign certificates ' +
          'for the kubernetes.io/kube-apiserver-client signer.  If specified, ' +
          '--cluster-signing-{cert,key}-file must not be set.',
      },
      {
        name: 'cluster-signing-kubelet-client-cert-file',
        kind: 'string',
        help:
          'Filename containing a PEM-encoded X509 CA certificate used to issue certificates for ' +
          'the kubernetes.io/kube-apiserver-client-kubelet signer.  If specified, ' +
          '--cluster-signing-{cert,key}-file must not be set.',
      },
      {
        name: 'cluster-signing-kubelet-client-key-file',
        kind: 'string',
        help:
          'Filename containing a PEM-encoded RSA or ECDSA private key used to sign certificates ' +
          'for the kubernetes.io/kube-apiserver-client-kubelet signer.  If specified, ' +
          '--cluster-signing-{cert,key}-file must not be set.',
      },
      {
        name: 'cluster-signing-kubelet-serving-cert-file',
        kind: 'string',
        help:
          'Filename containing a PEM-encoded X509 CA certificate used to issue certificates for ' +
          'the kubernetes.io/kubelet-serving signer.  If specified, ' +
          '--cluster-signing-{cert,key}-file must not be set.',
      },
      {
        name: 'cluster-signing-kubelet-serving-key-file',
        kind: 'string',
        help:
          'Filename containing a PEM-encoded RSA or ECDSA private key used to sign certificates ' +
          'for the kubernetes.io/kubelet-serving signer.  If specified, ' +
          '--cluster-signing-{cert,key}-file must not be set.',
      },
      {
        name: 'cluster-signing-legacy-unknown-cert-file',
        kind: 'string',
        help:
          'Filename containing a PEM-encoded X509 CA certificate used to issue certificates for ' +
          'the kubernetes.io/legacy-unknown signer.  If specified, ' +
          '--cluster-signing-{cert,key}-file must not be set.',
      },
      {
        name: 'cluster-signing-legacy-unknown-key-file',
        kind: 'string',
        help:
          'Filename containing a PEM-encoded RSA or ECDSA private key used to sign certificates ' +
          'for the kubernetes.io/legacy-unknown signer.  If specified, ' +
          '--cluster-signing-{cert,key}-file must not be set.',
      },
    ],
  },
  {
    name: 'legacy-serviceaccount-token-cleaner-controller',
    rows: [
      {
        name: 'legacy-service-account-token-clean-up-period',
        kind: 'duration',
        default: '8760h',
        help:
          'The period of time since the last usage of an legacy service account token before it ' +
          'can be deleted.',
      },
    ],
  },
  {
    name: 'serviceaccount-controller',
    rows: [
      {
        name: 'concurrent-serviceaccount-token-syncs',
        kind: 'int32',
        default: '5',
        unit: 'workers',
        help:
          'The number of service account token objects that are allowed to sync concurrently. ' +
          'Larger number = more responsive token generation, but more CPU (and network) load',
      },
      {
        name: 'root-ca-file',
        kind: 'string',
        help:
          "If set, this root certificate authority will be included in service account's token " +
          'secret. This must be a valid PEM-encoded CA bundle.',
      },
      {
        name: 'service-account-private-key-file',
        kind: 'string',
        help:
          'Enables legacy secret-based tokens when set. Filename containing a PEM-encoded private ' +
          'RSA or ECDSA key used to sign service account tokens.',
      },
    ],
  },
];
