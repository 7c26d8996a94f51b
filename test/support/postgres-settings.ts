/**
 * How the settings of the tests' shared PostgreSQL differ from the service's: it need not survive a crash of the machine, and many
 * databases are created on it.
 */
export const sharedPostgresSettings: Readonly<Record<string, string>> = { fsync: 'off', full_page_writes: 'off', max_connections: '200' };
