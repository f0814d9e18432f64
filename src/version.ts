/** What this program is: its own version, and the kube-controller-manager it stands in for. */
import manifest from '../package.json' with { type: 'json' };

/** Filled in by `bun build --define`; absent when run from source. */
declare const HOLDFAST_COMMIT: string | undefined;
declare const HOLDFAST_BUILD_DATE: string | undefined;

/** Version of Holdfast itself, "0.1.0". */
export const VERSION: string = manifest.version;

/** Version of Kubernetes whose kube-controller-manager this program stands in for. */
export const KUBERNETES_VERSION = 'v1.36.3';

/** Commit it was built from, "unknown" from source. */
export const COMMIT: string = typeof HOLDFAST_COMMIT === 'string' ? HOLDFAST_COMMIT : 'unknown';

/** RFC 3339 time of the build, "unknown" from source. */
export const BUILD_DATE: string =
  typeof HOLDFAST_BUILD_DATE === 'string' ? HOLDFAST_BUILD_DATE : 'unknown';
