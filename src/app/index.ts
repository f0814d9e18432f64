/** The composition root's door. */
export { runHoldfast, type World } from './run.ts';
