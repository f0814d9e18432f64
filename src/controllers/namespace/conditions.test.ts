import { describe, expect, test } from 'bun:test';
import { timeText } from '../../api/time.ts';
import { type Findings, nextConditions } from './conditions.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');
const LATER = NOW + 60_000;
const CLEAN: Findings = { deletion: [], remaining: new Map(), finalizers: new Map() };

function texts(findings: Findings): string[] {
  const conditions = nextConditions([], findings, NOW) ?? [];
  return conditions.map(
    ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
  );
}

describe('the five conditions', () => {
  test('all well', () => {
    expect(texts(CLEAN)).toEqual([
      'NamespaceDeletionDiscoveryFailure=False ResourcesDiscovered: All resources successfully discovered',
      'NamespaceDeletionGroupVersionParsingFailure=False ParsedGroupVersions: All legacy kube types successfully parsed',
      'NamespaceDeletionContentFailure=False ContentDeleted: All content successfully deleted, may be waiting on finalization',
      'NamespaceContentRemaining=False ContentRemoved: All content successfully removed',
      'NamespaceFinalizersRemaining=False ContentHasNoFinalizers: All content-preserving finalizers finished',
    ]);
  });

  test('all in trouble, sorted', () => {
    const findings: Findings = {
      discovery: 'no list',
      deletion: ['b failed', 'a failed'],
      remaining: new Map([
        ['widgets.example.com', 2],
        ['pods.', 1],
      ]),
      finalizers: new Map([
        ['z/last', 1],
        ['a/first', 3],
      ]),
    };
    const told = texts(findings);
    expect(told[0]).toBe('NamespaceDeletionDiscoveryFailure=True DiscoveryFailed: no list');
    expect(told[2]).toBe(
      'NamespaceDeletionContentFailure=True ContentDeletionFailed: ' +
        'Failed to delete all resource types, 2 remaining: a failed, b failed',
    );
    expect(told[3]).toBe(
      'NamespaceContentRemaining=True SomeResourcesRemain: Some resources are remaining: ' +
        'pods. has 1 resource instances, widgets.example.com has 2 resource instances',
    );
    expect(told[4]).toBe(
      'NamespaceFinalizersRemaining=True SomeFinalizersRemain: Some content in the namespace has ' +
        'finalizers remaining: a/first in 3 resource instances, z/last in 1 resource instances',
    );
  });
});

describe('changing them', () => {
  const held = { ...CLEAN, remaining: new Map([['pods.', 1]]) };

  test('nothing new: nothing to write', () => {
    const first = nextConditions([], held, NOW)!;
    expect(nextConditions(first, held, LATER)).toBeUndefined();
  });

  test('another message keeps the transition time, another status moves it; places stay', () => {
    const first = nextConditions([], held, NOW)!;
    const more = nextConditions(first, { ...held, remaining: new Map([['pods.', 2]]) }, LATER)!;
    expect(more[3]).toMatchObject({ status: 'True', lastTransitionTime: timeText(NOW) });
    const clean = nextConditions(more, CLEAN, LATER)!;
    expect(clean[3]).toMatchObject({ status: 'False', lastTransitionTime: timeText(LATER) });
    expect(clean[0]).toBe(first[0]!);
    expect(clean.map(({ type }) => type)).toEqual(first.map(({ type }) => type));
  });

  test('conditions of others stay', () => {
    const foreign = { type: 'Foreign', status: 'True' };
    const next = nextConditions([foreign], CLEAN, NOW)!;
    expect(next[0]).toBe(foreign);
    expect(next).toHaveLength(6);
  });
});
