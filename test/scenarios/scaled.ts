/** A custom resource with a scale subresource, for controllers that scale anything. */
import { registerResource } from '../rig/index.ts';
import type { Fields } from './world.ts';

registerResource({
  apiVersion: 'example.com/v1',
  kind: 'Shelf',
  plural: 'shelves',
  namespaced: true,
});

const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Shelves of example.com can be scaled up to 20. */
export const SHELVES: Fields = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'shelves.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'shelves', kind: 'Shelf', singular: 'shelf', listKind: 'ShelfList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { ...OPEN, properties: { replicas: { type: 'integer', maximum: 20 } } },
              status: {
                ...OPEN,
                properties: { replicas: { type: 'integer' }, selector: { type: 'string' } },
              },
            },
          },
        },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    ],
  },
};

/** A shelf that wants so many replicas. */
export function shelf(replicas: number, name = 'shelf'): Fields {
  return { apiVersion: 'example.com/v1', kind: 'Shelf', metadata: { name }, spec: { replicas } };
}
