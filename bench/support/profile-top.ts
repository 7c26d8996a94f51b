/** `node bench/support/profile-top.ts FILE.cpuprofile [lines]`: the functions that took the most time themselves, and the files. */
import { readFileSync } from 'node:fs';

type Frame = { functionName: string; url: string; lineNumber: number };
type Profile = { nodes: { id: number; callFrame: Frame }[]; samples: number[]; timeDeltas: number[] };

const [file, lines = '30'] = process.argv.slice(2);
if (file === undefined) {
  console.error('Usage: node bench/support/profile-top.ts FILE.cpuprofile [lines]');
  process.exit(2);
}
const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile;
const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
const byFunction = new Map<string, number>();
const byFile = new Map<string, number>();
let totalUs = 0;
for (let i = 0; i < samples.length; i++) {
  const { functionName, url, lineNumber } = frames.get(samples[i]!)!;
  if (functionName === '(idle)' || functionName === '(program)') continue;
  const place = url.replace(/^.*\/(src|bench|node_modules)\//, '$1/') || '(node itself)';
  add(byFunction, `${functionName || '(anonymous)'}  ${place}:${lineNumber + 1}`, timeDeltas[i]!);
  add(byFile, place, timeDeltas[i]!);
  totalUs += timeDeltas[i]!;
}
print('functions', byFunction);
print('files', byFile);

function add(times: Map<string, number>, key: string, us: number): void {
  times.set(key, (times.get(key) ?? 0) + us);
}

function print(title: string, times: Map<string, number>): void {
  console.log(`${title}, of ${(totalUs / 1e6).toFixed(1)} s at work`);
  const top = [...times].sort(([, a], [, b]) => b - a).slice(0, Number(lines));
  for (const [key, us] of top) console.log(`  ${((us / totalUs) * 100).toFixed(1).padStart(5)} %  ${key}`);
}
