/** The rules about which file may know which other, as docs/ARCHITECTURE.md gives them. Read from the sources' text: what is not imported cannot be used. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'node:test';

type Source = { path: string; text: string; imports: Import[] };
type Import = { target: string; typeOnly: boolean };

/** Which folders of src each may import from; `root` is src/*.ts, the shared files. */
const arrows: Record<string, string[]> = {
  root: ['root'],
  storage: ['storage', 'root'],
  cluster: ['cluster', 'storage', 'root'],
  actors: ['actors', 'cluster', 'storage', 'root'],
  domains: ['domains', 'edge', 'actors', 'cluster', 'storage', 'root', 'ports'],
  edge: ['edge', 'actors', 'cluster', 'storage', 'root'],
  admin: ['admin', 'edge', 'actors', 'cluster', 'storage', 'providers', 'root'],
  providers: ['providers', 'root'],
  cli: ['cli', 'cluster', 'storage', 'root', 'ids of domains'],
};

/** Packages that stay behind one door. */
const doors: { packages: RegExp; where: RegExp; typesWhere: RegExp }[] = [
  { packages: /^prom-client$/, where: /^src\/metrics\.ts$/, typesWhere: /^src\/metrics\.ts$/ },
  { packages: /^uWebSockets\.js$/, where: /^src\/edge\/http\/server\.ts$/, typesWhere: /^src\/edge\/http\// },
  {
    packages: /^(otpauth|qr)$/,
    where: /^src\/domains\/identity\/auth\/one-time-codes\.ts$/,
    typesWhere: /^src\/domains\/identity\/auth\/one-time-codes\.ts$/,
  },
  {
    packages: /^paseto/,
    where: /^src\/(edge\/auth\/tokens|cluster\/transport\/cluster-token)\.ts$/,
    typesWhere: /^src\/(edge\/auth\/tokens|cluster\/transport\/cluster-token)\.ts$/,
  },
  { packages: /^(ai|@ai-sdk\/.*)$/, where: /^src\/providers\/model\//, typesWhere: /^src\/providers\/model\// },
  { packages: /^stripe$/, where: /^src\/providers\/stripe\/client\.ts$/, typesWhere: /^src\/providers\/stripe\/client\.ts$/ },
  {
    packages: /^pdfkit$/,
    where: /^src\/domains\/billing\/routes\/invoice-pdf\.ts$/,
    typesWhere: /^src\/domains\/billing\/routes\/invoice-pdf\.ts$/,
  },
  {
    packages: /^oauth4webapi$/,
    where: /^src\/domains\/integrations\/oauth\//,
    typesWhere: /^src\/domains\/integrations\/oauth\//,
  },
  { packages: /^@grpc\//, where: /^src\/cluster\/transport\//, typesWhere: /^src\/cluster\/transport\// },
  {
    packages: /^@modelcontextprotocol\/client/,
    where: /^src\/domains\/integrations\/mcp-packages\.ts$/,
    typesWhere: /^src\/domains\/integrations\/(mcp-packages\.ts$|mcp-servers\/protocol\/)/,
  },
  { packages: /^ioredis$/, where: /^src\/cluster\/redis-connection\.ts$/, typesWhere: /^src\/cluster\/redis-connection\.ts$/ },
  {
    packages: /^@modelcontextprotocol\/server/,
    where: /^src\/domains\/integrations\/mcp-packages\.ts$/,
    typesWhere: /^src\/domains\/integrations\/mcp-(packages|endpoint\/sdk-handler)\.ts$/,
  },
  {
    packages: /^(@modelcontextprotocol\/core|zod)(\/|$)/,
    where: /^src\/domains\/integrations\/mcp-packages\.ts$/,
    typesWhere: /^src\/domains\/integrations\/mcp-packages\.ts$/,
  },
  { packages: /^playwright-core$/, where: /^src\/providers\/browser\//, typesWhere: /^src\/providers\/browser\// },
  { packages: /^(quickjs-.*|@jitl\/.*)$/, where: /^src\/providers\/sandbox\//, typesWhere: /^src\/providers\/sandbox\// },
];

const longestFileLines = 400;
const sources = globSync('src/**/*.ts').map(readSource);

test('imports go one way: edge, actors, cluster, storage, shared files; providers are imported only through their ports', () => {
  const wrong = sources.flatMap((source) => {
    const allowed = arrows[areaOf(source.path)];
    if (source.path === 'src/main.ts' || source.path.startsWith('src/node/')) return [];
    if (allowed === undefined) return [`${source.path} is in a folder no arrow names`];
    const targets = source.imports.map(({ target }) => target).filter((target) => target.startsWith('src/'));
    return targets
      .filter((target) => !allowed.includes(areaOf(target)) && !(allowed.includes('ports') && isPort(target)))
      .filter((target) => !(allowed.includes('ids of domains') && /^src\/domains\/[^/]+\/ids\.ts$/.test(target)))
      .map((target) => `${source.path} imports ${target}`);
  });
  assert.deepEqual(wrong, []);
});

const domainOf = (path: string) => /^src\/domains\/([^/]+)\//.exec(path)?.[1];

test('domains import from each other only contract.ts', () => {
  const wrong = sources.flatMap(({ path, imports }) => {
    const domain = domainOf(path);
    const others = imports.filter(({ target }) => domain !== undefined && ![undefined, domain].includes(domainOf(target)));
    return others
      .filter(({ target }) => !/^src\/domains\/[^/]+\/contract\.ts$/.test(target))
      .map(({ target }) => `${path} imports ${target}`);
  });
  assert.deepEqual(wrong, []);
});

test('the graph of domains has no cycle', () => {
  assert.equal(cycleOfDomains(sources), null);
});

test('a cycle of domains is reported with the importing files', () => {
  const source = (from: string, ...to: string[]) => ({
    path: `src/domains/${from}/a.ts`,
    text: '',
    imports: to.map((domain) => ({ target: `src/domains/${domain}/contract.ts`, typeOnly: true })),
  });
  const chain = [source('low'), source('middle', 'low', 'middle'), source('high', 'middle', 'low')];
  assert.equal(cycleOfDomains(chain), null);
  const found = 'middle → low (src/domains/middle/a.ts), low → high (src/domains/low/a.ts), high → middle (src/domains/high/a.ts)';
  assert.equal(cycleOfDomains([...chain.slice(1), source('low', 'high')]), found);
});

test('no file imports main.ts, only main.ts imports the folder that builds a node, and no file in src imports scripts, tests or benches', () => {
  const wrong = sources.flatMap(({ path, imports }) =>
    imports
      .filter(
        ({ target }) =>
          target === 'src/main.ts' ||
          (target.startsWith('src/node/') && path !== 'src/main.ts' && !path.startsWith('src/node/')) ||
          /^(scripts|test|bench)\//.test(target),
      )
      .map(({ target }) => `${path} imports ${target}`),
  );
  assert.deepEqual(wrong, []);
});

test('the HTTP server, gRPC, the model packages and the sandbox are each imported in one place', () => {
  const wrong = sources.flatMap(({ path, imports }) =>
    imports.flatMap(({ target, typeOnly }) => {
      const door = doors.find(({ packages }) => packages.test(target));
      return door === undefined || (typeOnly ? door.typesWhere : door.where).test(path) ? [] : [`${path} imports ${target}`];
    }),
  );
  assert.deepEqual(wrong, []);
});

test('the environment is read only in config.ts', () => {
  // A plain assignment is no read: a native package takes a setting no other way.
  const reads = /\bprocess\s*(\.|\?\.|\[\s*['"])env\b(?!\.\w+ = )|\{[^}]*\benv\b[^}]*\}\s*(from\s*['"](node:)?process['"]|=\s*process\b)/;
  const wrong = sources.filter(({ path, text }) => path !== 'src/config.ts' && reads.test(text)).map(({ path }) => path);
  assert.deepEqual(wrong, []);
});

/** What is written in few files alone, so that it holds for all: how sessions begin, and what a role of plain rights may lack. */
const confined: { text: RegExp; where: RegExp }[] = [
  { text: /new pg\.(Client|Pool)\(/, where: /^src\/storage\/(connect|embedded-postgres)\.ts$/ },
  { text: /pg_terminate_backend|pg_cancel_backend|pg_(try_)?advisory/, where: /^src\/storage\/server-functions\.ts$/ },
  { text: /pg_control_|pg_walfile_name|pg_current_wal/, where: /^src\/cluster\/database-history\.ts$/ },
];

test('connections to PostgreSQL are made in one place, and functions that need privileges are called in one place', () => {
  const wrong = sources.flatMap(({ path, text }) =>
    confined.filter((rule) => rule.text.test(text) && !rule.where.test(path)).map((rule) => `${path} has ${rule.text.source}`),
  );
  assert.deepEqual(wrong, []);
});

/** `read-lease.ts` compares both clocks, and `api-description.ts` shows callers a function of their own. */
const clockReaders = ['src/clock.ts', 'src/cluster/read-lease.ts', 'src/node/api-description.ts'];

test('the wall clock is read only in clock.ts, and no deadline uses it', () => {
  const reads = /\bDate\.now\b|\bnew Date\(\)/;
  const deadlines = /\b(deadline|giveUpAt|since|began|begun)\w*\s*[=:+<>-].*\bnowMs\(\)/i;
  const wrong = sources
    .filter(({ path }) => !clockReaders.includes(path))
    .flatMap(({ path, text }) => {
      const lines = text.split('\n').filter((line) => reads.test(line) || deadlines.test(line));
      return lines.map((line) => `${path}: ${line.trim()}`);
    });
  assert.deepEqual(wrong, []);
});

test('classes use `private` members, not #', () => {
  const declared = /^\s+(?:(?:static|readonly|async|get|set) )*\*?#\w+\s*[:=;(!?<]/m;
  assert.deepEqual(
    sources.filter(({ text }) => declared.test(text)).map(({ path }) => path),
    [],
  );
});

test(`no file in src is longer than ${longestFileLines} lines`, () => {
  const lines = (text: string) => text.trimEnd().split('\n').length;
  const long = sources
    .map(({ path }) => `${path}: ${lines(readFileSync(path, 'utf8'))} lines`)
    .filter((line) => Number(/(\d+) lines/.exec(line)![1]) > longestFileLines);
  assert.deepEqual(long, []);
});

test('every relative import names an existing file with its extension', () => {
  const missing = sources.flatMap(({ path, imports }) =>
    imports.filter(({ target }) => target.startsWith('src/') && !existsSync(target)).map(({ target }) => `${path}: ${target}`),
  );
  assert.deepEqual(missing, []);
});

test('no file of the project names a package registry, so that any mirror can be used', (t) => {
  const listed = gitFiles();
  if (listed === null) return t.skip('not a git checkout');
  const host = /registry\.(npmjs|yarnpkg)\.(org|com)/;
  const naming = listed.filter((path) => existsSync(path) && statSync(path).isFile() && host.test(readFileSync(path, 'latin1')));
  assert.deepEqual(naming, []);
});

function gitFiles(): string[] | null {
  try {
    const listing = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    return listing.split('\0').filter(Boolean);
  } catch {
    return null;
  }
}

function readSource(path: string): Source {
  const text = withoutComments(readFileSync(path, 'utf8'));
  const statements = text.matchAll(
    /\b(?:import|export)\s+(type\b)?[^'"`;()]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\s*\(?\s*['"]([^'"]+)['"]/g,
  );
  const imports = Array.from(statements, ([, type, from, bare]) => ({
    target: resolveImport(path, (from ?? bare)!),
    typeOnly: type !== undefined,
  }));
  return { path, text, imports };
}

function resolveImport(path: string, specifier: string): string {
  return specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : specifier;
}

/** Line and block comments become blanks; strings stay, as they hold the import paths. */
function withoutComments(text: string): string {
  return text.replace(
    /('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|\/\*[\s\S]*?\*\/|(^|[^:\\])\/\/[^\n]*/g,
    (_, literal?: string, before?: string) => literal ?? `${before ?? ''} `,
  );
}

function areaOf(path: string): string {
  const [, area, rest] = path.split('/');
  return rest === undefined ? 'root' : area!;
}

/** null: there is none. */
function cycleOfDomains(all: readonly Source[]): string | null {
  /** By domain, the domains it imports, each with one file that does. */
  const graph = new Map<string, Map<string, string>>();
  for (const { path, imports } of all) {
    const from = domainOf(path);
    if (from === undefined) continue;
    if (!graph.has(from)) graph.set(from, new Map());
    for (const to of imports.map(({ target }) => domainOf(target))) if (to !== undefined && to !== from) graph.get(from)!.set(to, path);
  }
  const acyclic = new Set<string>();
  const search = (domain: string, path: readonly string[]): string[] | null => {
    if (path.includes(domain)) return [...path.slice(path.indexOf(domain)), domain];
    if (acyclic.has(domain)) return null;
    for (const next of graph.get(domain)?.keys() ?? []) {
      const cycle = search(next, [...path, domain]);
      if (cycle !== null) return cycle;
    }
    acyclic.add(domain);
    return null;
  };
  for (const domain of graph.keys()) {
    const cycle = search(domain, []);
    if (cycle === null) continue;
    const arrows = cycle.slice(1).map((to, i) => `${cycle[i]} → ${to} (${graph.get(cycle[i]!)!.get(to)})`);
    return arrows.join(', ');
  }
  return null;
}

function isPort(path: string): boolean {
  // The client of Stripe has one form only, and the domains that use it bring adapters of their own.
  return /^src\/providers\/([^/]+\/port|stripe\/client)\.ts$/.test(path);
}

test('no actor uses a type assertion for a row: a missing column must not compile', () => {
  const asserted = sources
    .filter(({ path }) => path.startsWith('src/domains/'))
    .flatMap(({ path, text }) => (text.match(/\} as (unknown as )?\w*Row\b/g) ?? []).map((found) => `${path}: ${found}`));
  assert.deepEqual(asserted, []);
});
