/** How the PostgreSQL that tests share differs from the service's: it need not outlive the machine, and many databases are made on it. */
export const sharedPostgresSettings: Readonly<Record<string, string>> = { fsync: 'off', full_page_writes: 'off', max_connections: '200' };
