/** Benchmarks: every measurement against the reference manager and Holdfast, side by side. */
import type { Figure, Report, Subject } from './figures.ts';
import { type Crowd, SCALE_SCENARIOS } from './scale.ts';
import { idle, limited, restart, rollout, type Size } from './scenarios.ts';
import { Stage } from './stage.ts';

export { type Report, type Subject, tableOf } from './figures.ts';
export { pictureOf } from './picture.ts';
export { CROWD, type Crowd, SMALL_CROWD } from './scale.ts';
export { FULL, QUICK, type Size } from './scenarios.ts';

const SCALE_NODES = 10;

type Scenario = readonly [name: string, run: (stage: Stage) => Promise<Figure[]>];

/** Runs all measurements for one subject on a cluster of its own. */
export function measure(
  subject: Subject,
  size: Size,
  tell: (line: string) => void,
): Promise<Report> {
  const scenarios = [idle, rollout, restart, limited].map(
    (scenario): Scenario => [scenario.name, (stage) => scenario(stage, size)],
  );
  return measured(subject, { nodes: size.nodes, counting: true }, scenarios, tell);
}

/** As `measure`, for many things at once; the manager's own limits on requests are lifted. */
export function measureScale(
  subject: Subject,
  crowd: Crowd,
  tell: (line: string) => void,
): Promise<Report> {
  const start = async (stage: Stage): Promise<Figure[]> => {
    await stage.start('lifted');
    await stage.manager.waitServing();
    return [];
  };
  const scenarios = SCALE_SCENARIOS.map(
    (scenario): Scenario => [scenario.name, (stage) => scenario(stage, crowd)],
  );
  const stage = { nodes: SCALE_NODES, counting: false };
  return measured(subject, stage, [['start', start], ...scenarios], tell);
}

async function measured(
  subject: Subject,
  { nodes, counting }: { readonly nodes: number; readonly counting: boolean },
  scenarios: readonly Scenario[],
  tell: (line: string) => void,
): Promise<Report> {
  const stage = await Stage.open(subject, nodes, counting);
  const figures: Figure[] = [];
  try {
    for (const [name, run] of scenarios) {
      const started = performance.now();
      figures.push(...(await run(stage)));
      const took = ((performance.now() - started) / 1000).toFixed(0);
      tell(`${subject}: ${name} measured in ${took} s`);
    }
  } finally {
    await stage.close();
  }
  return { subject, figures };
}
