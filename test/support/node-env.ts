/** What a process that a test starts is given of this one's environment: the way to programs, what makes Node start quicker, and what records statements. */
export const nodeEnv: Readonly<Record<string, string>> = Object.fromEntries(
  ['PATH', 'NODE_COMPILE_CACHE', 'NODE_OPTIONS', 'RECORD_STATEMENTS'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);
