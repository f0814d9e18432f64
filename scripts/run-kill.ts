/** `make run-kill`: kills the manager of a running `make run` with SIGKILL. */
import { runningSession } from './demo/session.ts';

const session = runningSession();
if (session === undefined) {
  console.error('nothing runs here: start `make run` in another terminal first');
  process.exit(1);
}
process.kill(session.manager, 'SIGKILL');
console.log(`killed process ${session.manager}; watch the terminal of make run`);
