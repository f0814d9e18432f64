/** Revisions against what upstream's own code made of the same templates. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { revisionHash } from '../../../api/hash.ts';
import { parseJson, stringifyJson } from '../../../api/json.ts';
import { STATEFUL_SETS } from '../../../api/resource.ts';
import { newerTemplate } from '../../../api/testing/newer.ts';
import type { ControllerRevision, PodTemplateSpec } from '../../../api/types/index.ts';
import { byRevision, highestRevision, holdsData, restoresTemplate } from './compare.ts';
import { newRevision, revisionBody } from './create.ts';
import {
  DAEMON_NUMBERS,
  restoredTemplate,
  revisionData,
  STATEFUL_NUMBERS,
  templateData,
} from './data.ts';

interface Given {
  readonly name: string;
  readonly template: PodTemplateSpec;
}

interface Made extends Given {
  readonly setData: string;
  readonly daemonData: string;
  readonly setHashes: Readonly<Record<string, string>>;
  readonly applied: PodTemplateSpec | null;
  readonly applyError: string;
}

interface Pair extends Given {
  readonly data: object;
  readonly equal: boolean;
}

/** What the reference made of the templates in given.jsonl; written by test/rig/gen/revisions. */
function linesOf<T>(name: string): T[] {
  const text = readFileSync(new URL(`./testdata/${name}`, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => parseJson<T>(line));
}

const VERSION = 'v1.36.3';
const cases = linesOf<Made>(`revisions-${VERSION}.jsonl`);
const pairs = linesOf<Pair>(`pairs-${VERSION}.jsonl`);

function revisionOf(data: unknown, revision = 1, name = 'web-1'): ControllerRevision {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1' };
  return { metadata, data, revision };
}

/** The same fields, written in the opposite order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, inner]) => [key, turned(inner)]));
}

/** As API servers before 1.34 give a template. */
function withZeroTimes(template: PodTemplateSpec): PodTemplateSpec {
  const zero = { creationTimestamp: null } as object;
  const volumes = template.spec?.volumes?.map((volume) => {
    const claim = volume.ephemeral?.volumeClaimTemplate;
    if (claim === undefined) return volume;
    const volumeClaimTemplate = { ...claim, metadata: { ...claim.metadata, ...zero } };
    return { ...volume, ephemeral: { volumeClaimTemplate } };
  });
  const spec = template.spec && { ...template.spec, ...(volumes && { volumes }) };
  return { metadata: { ...template.metadata, ...zero }, spec };
}

describe(`the data of a revision is that of ${VERSION}`, () => {
  for (const { name, template, setData, daemonData } of cases) {
    test(name, () => {
      expect(templateData(template, STATEFUL_NUMBERS)).toBe(setData);
      expect(templateData(template, DAEMON_NUMBERS)).toBe(daemonData);
      expect(templateData(turned(template) as PodTemplateSpec, STATEFUL_NUMBERS)).toBe(setData);
      expect(templateData(withZeroTimes(template), DAEMON_NUMBERS)).toBe(daemonData);
    });
  }
});

describe('what only a newer API server knows of a template', () => {
  const [{ template, setData }] = cases as [Made];

  test('is not in the data', () => {
    expect(templateData(newerTemplate(template), STATEFUL_NUMBERS)).toBe(setData);
  });

  test('makes no new revision, on either side', () => {
    const newer = { spec: { template: { ...newerTemplate(template), $patch: 'replace' } } };
    expect(restoresTemplate(revisionOf(newer), template)).toBe(true);
    expect(restoresTemplate(revisionOf(parseJson(setData)), newerTemplate(template))).toBe(true);
  });
});

describe(`the hash of a revision is that of ${VERSION}`, () => {
  for (const { name, setData, setHashes } of cases) {
    test.each(Object.entries(setHashes))(`${name}, collision count %p`, (count, hash) => {
      expect(revisionHash(setData, count === 'none' ? undefined : Number(count))).toBe(hash);
    });
  }
});

describe('a stored revision', () => {
  for (const { name, template, setData, daemonData, applied, applyError } of cases) {
    test(`${name}: reads back as the same data, in whatever order its fields came`, () => {
      for (const data of [setData, daemonData]) {
        expect(revisionData(revisionOf(turned(parseJson(data))))).toBe(data);
        expect(holdsData(revisionOf(parseJson(data)), data)).toBe(true);
        expect(holdsData(revisionOf(parseJson(data)), `${data} `)).toBe(false);
      }
    });

    test(`${name}: puts back the template that the reference puts back`, () => {
      const restored = restoredTemplate(revisionOf(parseJson(setData)), {});
      if (applyError === '') expect(restored).toEqual(applied as PodTemplateSpec);
      // Upstream can't read the rounded number any more; here the highest integer stands for it.
      else expect(restored).toEqual(template);
    });
  }

  test('without a template changes nothing', () => {
    const current = { metadata: { labels: { app: 'web' } } };
    for (const data of [undefined, null, {}, { spec: {} }, { spec: { template: 'x' } }]) {
      expect(restoredTemplate(revisionOf(data), current)).toBe(current);
    }
  });
});

describe(`whether a revision restores the template, as ${VERSION} sees it`, () => {
  for (const { name, template, data, equal } of pairs) {
    test(`${name}: ${equal ? 'yes' : 'no'}`, () => {
      expect(restoresTemplate(revisionOf(data), template)).toBe(equal);
    });
  }
});

describe('the order of revisions', () => {
  test('is by number, then by creation, then by name', () => {
    const at = (name: string, revision: number, creationTimestamp: string) => {
      const plain = revisionOf({}, revision, name);
      return { ...plain, metadata: { ...plain.metadata, creationTimestamp } };
    };
    const revisions = [
      at('d', 2, '2026-01-01T00:00:00Z'),
      at('c', 1, '2026-01-02T00:00:00Z'),
      at('b', 1, '2026-01-01T00:00:00Z'),
      at('a', 1, '2026-01-01T00:00:00Z'),
    ];
    expect(
      revisions
        .sort(byRevision)
        .map(({ metadata }) => metadata.name)
        .join(''),
    ).toBe('abcd');
    expect(highestRevision(revisions)).toBe(2);
    expect(highestRevision([])).toBe(0);
  });
});

describe('a new revision', () => {
  const owner = {
    metadata: {
      name: 'web',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '1',
      annotations: { note: '<x>' },
    },
  };

  for (const { name, setData, daemonData } of cases) {
    test(`${name}: is sent with exactly the bytes that upstream stores`, () => {
      for (const data of [setData, daemonData]) {
        const labels = { app: 'web' };
        const input = { owner, ownerResource: STATEFUL_SETS, name: 'web-1', labels, revision: 3 };
        const revision = newRevision({ ...input, data });
        expect(revision).toMatchObject({
          apiVersion: 'apps/v1',
          kind: 'ControllerRevision',
          metadata: { name: 'web-1', namespace: 'default', labels, annotations: { note: '<x>' } },
          revision: 3,
        });
        expect(revision.metadata.ownerReferences).toEqual([
          {
            apiVersion: 'apps/v1',
            kind: 'StatefulSet',
            name: 'web',
            uid: 'u',
            controller: true,
            blockOwnerDeletion: true,
          },
        ]);
        const text = stringifyJson(revisionBody(revision));
        expect(text).toContain(`"data":${data},`);
        expect(parseJson<object>(text)).toEqual(revision);
      }
    });
  }
});

test('numbers beyond what a number holds are ordered as well', () => {
  const huge = revisionOf({}, (2n ** 60n) as unknown as number, 'huge');
  const small = revisionOf({}, 3, 'small');
  expect([huge, small].sort(byRevision)).toEqual([small, huge]);
  expect(highestRevision([huge, small])).toBe(2 ** 60);
});
