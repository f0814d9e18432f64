/** Versions: our own (`holdfast version`), and the one that --version answers with. */
import { BUILD_DATE, COMMIT, KUBERNETES_VERSION, VERSION } from '../version.ts';
import { type Format, OUTPUT_OPTION, render } from './output.ts';
import type { CliPorts, CommandRow } from './ports.ts';
import { operandsUpTo, readWords } from './words.ts';

/** What help and completion show. */
export const VERSION_COMMAND: CommandRow = {
  name: 'version',
  operands: '',
  summary: 'version of Holdfast, and of the kube-controller-manager it stands in for',
  options: [OUTPUT_OPTION],
};

/** Runs `version`; gives the exit code. Throws UsageFault. */
export async function runVersion(argv: readonly string[], ports: CliPorts): Promise<number> {
  const words = readWords(argv, VERSION_COMMAND.options);
  operandsUpTo(words, 0, 'version');
  const platform = `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`;
  const data = {
    version: VERSION,
    commit: COMMIT,
    buildDate: BUILD_DATE,
    kubernetesVersion: KUBERNETES_VERSION,
    runtime: `Bun ${Bun.version}`,
    platform,
  };
  const lines = [
    `holdfast ${VERSION} (commit ${COMMIT}, built ${BUILD_DATE})`,
    `stands in for kube-controller-manager ${KUBERNETES_VERSION}`,
    `${data.runtime} on ${platform}`,
  ];
  const view = { notes: lines, parts: [], data };
  await ports.terminal.out(render(view, (words.value('output') ?? 'table') as Format));
  return 0;
}

/** What --version prints, as upstream does. */
export function kubernetesVersionText(form: 'plain' | 'raw'): string {
  if (form === 'plain') return `Kubernetes ${KUBERNETES_VERSION}\n`;
  const [major = '', minor = ''] = KUBERNETES_VERSION.slice(1).split('.');
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const fields = {
    Major: major,
    Minor: minor,
    EmulationMajor: '',
    EmulationMinor: '',
    MinCompatibilityMajor: '',
    MinCompatibilityMinor: '',
    GitVersion: KUBERNETES_VERSION,
    GitCommit: COMMIT,
    GitTreeState: '',
    BuildDate: BUILD_DATE,
    GoVersion: '',
    Compiler: `bun${Bun.version}`,
    Platform: `${process.platform}/${arch}`,
  };
  const pairs = Object.entries(fields).map(([name, value]) => `${name}:${JSON.stringify(value)}`);
  return `version.Info{${pairs.join(', ')}}\n`;
}
