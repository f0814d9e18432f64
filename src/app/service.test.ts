import { expect, test } from 'bun:test';
import { serviceState } from './service.ts';

const LEASE = 'kube-system/kube-controller-manager';

test.each([
  ['leading', 'me', '', true, `Leading ${LEASE}`],
  ['standby', 'other_1', '', true, 'Standing by, other_1 leads'],
  ['standby', '', '', false, `Waiting for the Lease ${LEASE}`],
  ['leading', 'me', 'disk full', true, `Leading ${LEASE}; state file: disk full`],
] as const)('%s, held by %p, trouble %p: ready %p', (state, holder, problem, ready, status) => {
  expect(serviceState({ state, holder, lease: LEASE }, problem)).toEqual({ ready, status });
});

test('without election it leads', () => {
  const info = { state: 'leading', holder: '', lease: '' } as const;
  expect(serviceState(info, '')).toEqual({ ready: true, status: 'Leading without election' });
});
