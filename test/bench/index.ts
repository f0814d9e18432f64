/** Benchmarks: every measurement against the reference manager and Holdfast, side by side. */
import type { Figure, Report, Subject } from './figures.ts';
import { idle, limited, restart, rollout, type Size } from './scenarios.ts';
import { Stage } from './stage.ts';

export { type Report, type Subject, tableOf } from './figures.ts';
export { FULL, QUICK, type Size } from './scenarios.ts';

/** Runs all measurements for one subject on a cluster of its own. */
export async function measure(
  subject: Subject,
  size: Size,
  tell: (line: string) => void,
): Promise<Report> {
  const stage = await Stage.open(subject, size.nodes);
  const figures: Figure[] = [];
  try {
    for (const scenario of [idle, rollout, restart, limited]) {
      const started = performance.now();
      figures.push(...(await scenario(stage, size)));
      const took = ((performance.now() - started) / 1000).toFixed(0);
      tell(`${subject}: ${scenario.name} measured in ${took} s`);
    }
  } finally {
    await stage.close();
  }
  return { subject, figures };
}
