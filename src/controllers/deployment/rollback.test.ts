import { describe, expect, test } from 'bun:test';
import { deployment, NOON, replicaSet, template } from './testing/build.ts';
import { Server } from './testing/server.ts';
import { eventsOf, inShort } from './testing/steps.ts';

const REVISION = 'deployment.kubernetes.io/revision';
const ROLLBACK = 'deprecated.deployment.rollback.to';

function stage(to: string): Server {
  const annotations = { [ROLLBACK]: to, [REVISION]: '3', 'change-cause': 'edit' };
  const owner = deployment({ annotations });
  const made = (name: string, revision: string, image: string, cause: string) =>
    replicaSet(
      name,
      0,
      {
        image,
        age: 9 - Number(revision),
        annotations: { [REVISION]: revision, 'change-cause': cause },
      },
      owner,
    );
  const sets = [
    made('v1', '1', 'app:old', 'create'),
    made('v2', '2', 'app:older', 'second'),
    made('v3', '3', 'app:1', 'edit'),
  ];
  return new Server(owner, sets, NOON);
}

function imageOf(server: Server): string | undefined {
  return server.deployment.spec?.template?.spec?.containers[0]?.image;
}

describe('rollback', () => {
  test('to a named revision: template and annotations are taken over, the request is dropped', () => {
    const server = stage('1');
    const actions = server.sync();
    expect(inShort(actions)).toEqual(['updateDeployment', 'event DeploymentRollback']);
    expect(eventsOf(actions)).toEqual(['Rolled back deployment "web" to revision 1']);
    expect(server.deployment.spec?.template).toEqual(template('app:old'));
    expect(server.deployment.metadata.annotations).toEqual({
      [REVISION]: '3',
      'change-cause': 'create',
    });
  });

  test('0 means the second-highest', () => {
    const server = stage('0');
    expect(eventsOf(server.sync())).toEqual(['Rolled back deployment "web" to revision 2']);
    expect(imageOf(server)).toBe('app:older');
  });

  test.each([
    ['9', 'DeploymentRollbackRevisionNotFound', 'Unable to find the revision to rollback to.'],
    [
      '3',
      'DeploymentRollbackTemplateUnchanged',
      'The rollback revision contains the same template as current deployment "web"',
    ],
  ])('to %p: %p, the request is dropped, nothing else', (to, reason, message) => {
    const server = stage(to);
    const actions = server.sync();
    expect(inShort(actions)).toEqual([`event ${reason}`, 'updateDeployment']);
    expect(eventsOf(actions)).toEqual([message]);
    expect(imageOf(server)).toBe('app:1');
    expect(server.deployment.metadata.annotations).toEqual({
      [REVISION]: '3',
      'change-cause': 'edit',
    });
  });

  test('to the last one where there is none', () => {
    const server = stage('0');
    for (const name of ['v1', 'v2']) server.replicaSets.delete(name);
    expect(eventsOf(server.sync())).toEqual(['Unable to find last revision.']);
  });

  test("a missing new ReplicaSet is created first, so that its revision isn't lost", () => {
    const server = stage('2');
    server.replicaSets.delete('v3');
    const steps = inShort(server.sync());
    expect(steps[0]).toStartWith('createReplicaSet');
    expect(steps.slice(-2)).toEqual(['updateDeployment', 'event DeploymentRollback']);
    expect(imageOf(server)).toBe('app:older');
  });

  test('the next sync rolls on to that template, whose ReplicaSet gets the highest revision', () => {
    const server = stage('1');
    server.sync();
    server.sync();
    expect(server.replicaSets.get('v1')?.metadata.annotations).toMatchObject({
      [REVISION]: '4',
      'deployment.kubernetes.io/revision-history': '1',
      'change-cause': 'create',
    });
    expect(server.deployment.metadata.annotations?.[REVISION]).toBe('4');
  });
});
