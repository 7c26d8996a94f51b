/** The environment of a process that a test starts: PATH, settings for a faster start of Node, and for recording statements. */
export const nodeEnv: Readonly<Record<string, string>> = Object.fromEntries(
  ['PATH', 'NODE_COMPILE_CACHE', 'NODE_OPTIONS', 'RECORD_STATEMENTS'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);
