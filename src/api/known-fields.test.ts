import { describe, expect, test } from 'bun:test';
import { templateHash } from './hash.ts';
import { knownFields } from './known-fields.ts';
import { templatesEqual } from './template.ts';
import { newerTemplate } from './testing/newer.ts';
import type { PodTemplateSpec } from './types/index.ts';

const template: PodTemplateSpec = {
  metadata: { labels: { app: 'web' }, annotations: { fieldOfNextYear: 'x' } },
  spec: {
    containers: [{ name: 'app', resources: { limits: { 'example.com/new': '1' } } }],
    nodeSelector: { fieldOfNextYear: 'x' },
    volumes: [{ name: 'v', csi: { driver: 'd', volumeAttributes: { fieldOfNextYear: 'x' } } }],
    tolerations: null as unknown as [],
  },
};

describe('fields that are not known', () => {
  test('go, at any depth', () => {
    expect(knownFields(newerTemplate(template), 'PodTemplateSpec')).toEqual(template);
  });

  test('a template without such is itself', () => {
    expect(knownFields(template, 'PodTemplateSpec')).toBe(template);
    expect(knownFields({}, 'PodTemplateSpec')).toEqual({});
  });

  test('also those that every object of this language has', () => {
    const odd = { metadata: { constructor: 'x' }, toString: 'x' } as object;
    expect(knownFields(odd, 'PodTemplateSpec')).toEqual({ metadata: {} });
  });

  test('go from the templates of Jobs and claims as well', () => {
    const job = { spec: { suspend: true, fieldOfNextYear: 1, template: newerTemplate(template) } };
    expect<unknown>(knownFields(job, 'JobTemplateSpec')).toEqual({
      spec: { suspend: true, template },
    });
    const claim = { spec: { accessModes: ['x'], fieldOfNextYear: 1 }, fieldOfNextYear: 1 };
    expect<unknown>(knownFields(claim, 'PersistentVolumeClaim')).toEqual({
      spec: { accessModes: ['x'] },
    });
  });

  test('make no difference between templates, nor for their hash', () => {
    expect(templatesEqual(template, newerTemplate(template))).toBe(true);
    expect(templateHash(newerTemplate(template), 1)).toBe(templateHash(template, 1));
  });
});
