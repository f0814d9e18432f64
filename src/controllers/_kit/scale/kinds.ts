/** Which resource serves a kind: upstream's REST mapper over what discovery found. */
import { quote } from '../../../api/go-quote.ts';
import type { Resource } from '../../../api/resource.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { ControllerContext, DiscoveryResult } from '../../../runtime/controller.ts';
import { DISCOVERY_INTERVAL_MS, DISCOVERY_MISS_AGE_MS } from '../../../runtime/limits.ts';

/** The server has no such kind. */
export class NoKindMatch extends Error {
  constructor(group: string, kind: string, version?: string) {
    const groupVersion = group === '' ? (version ?? '') : `${group}/${version}`;
    const where = version ? `version ${quote(groupVersion)}` : `group ${quote(group)}`;
    super(`no matches for kind ${quote(kind)} in ${where}`);
    this.name = 'NoKindMatch';
  }
}

interface Look {
  readonly at: number;
  readonly found: DiscoveryResult;
}

/** Kinds and their resources; the server is asked again every 30 s, or when a kind is missing. */
export class Kinds {
  readonly #discovery: ControllerContext['discovery'];
  readonly #clock: Pick<Clock, 'monotonic'>;
  #look: Look | undefined;
  #asking: Promise<Look> | undefined;

  constructor({ discovery, clock }: Pick<ControllerContext, 'discovery' | 'clock'>) {
    this.#discovery = discovery;
    this.#clock = clock;
  }

  /** The resource of a kind in exactly this version; any version if it is "". Throws NoKindMatch. */
  async mapping(group: string, version: string, kind: string): Promise<Resource> {
    const [first] = await this.#find(group, kind, version);
    if (first === undefined) throw new NoKindMatch(group, kind, version || undefined);
    return version === '' ? await this.preferred(first) : first;
  }

  /** All resources of a kind, each once and in its preferred version. Throws NoKindMatch. */
  async mappings(group: string, kind: string): Promise<readonly Resource[]> {
    const found = await this.#find(group, kind, '');
    if (found.length === 0) throw new NoKindMatch(group, kind);
    const plurals = [...new Map(found.map((one) => [one.plural, one])).values()];
    return await Promise.all(plurals.map((one) => this.preferred(one)));
  }

  /** The same resource in the version that the server prefers, if it is served in that one. */
  async preferred(resource: Resource): Promise<Resource> {
    const { found } = await this.#ask(DISCOVERY_INTERVAL_MS);
    const { group, plural } = resource;
    const wanted = found.groups.find(({ name }) => name === group)?.preferredVersion;
    const served = found.resources.filter((one) => one.group === group && one.plural === plural);
    return served.find(({ version }) => version === wanted) ?? served[0] ?? resource;
  }

  /**
   * Versions of a group that can be read, the preferred one first; undefined if the server knows no
   * such group. The answer is at most so old.
   */
  async versions(group: string, ageMaxMs: number): Promise<readonly string[] | undefined> {
    const { found } = await this.#ask(ageMaxMs);
    const known = found.groups.find(({ name }) => name === group);
    if (known === undefined) return undefined;
    const served = found.resources.filter((one) => one.group === group);
    const all = [known.preferredVersion, ...served.map(({ version }) => version)];
    return [...new Set(all)].filter((version) => version !== '');
  }

  async #find(group: string, kind: string, version: string): Promise<readonly Resource[]> {
    const known = servedIn(await this.#ask(DISCOVERY_INTERVAL_MS), group, kind, version);
    if (known.length > 0) return known;
    return servedIn(await this.#ask(DISCOVERY_MISS_AGE_MS), group, kind, version);
  }

  /** What is known, if it is young enough; all who ask meanwhile share one question. */
  async #ask(ageMaxMs: number): Promise<Look> {
    const now = this.#clock.monotonic();
    if (this.#look !== undefined && now - this.#look.at < ageMaxMs) return this.#look;
    this.#asking ??= this.#discovery()
      .then((found) => ({ at: now, found }))
      .finally(() => {
        this.#asking = undefined;
      });
    this.#look = await this.#asking;
    return this.#look;
  }
}

/** As upstream's mapper, a kind may also be written in lower case. */
function servedIn({ found }: Look, group: string, kind: string, version: string): Resource[] {
  return found.resources.filter(
    (one) =>
      one.group === group &&
      (one.kind === kind || one.kind.toLowerCase() === kind) &&
      (version === '' || one.version === version),
  );
}
