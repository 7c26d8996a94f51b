/** The required scopes: the table of the contract, by the beginning of the path. A new endpoint must be added here. */

/** Public endpoints; of a checkout, for everyone with its address. */
export const publicOperations = [
  'POST /auth/register',
  'POST /auth/login',
  'POST /auth/login/2fa',
  'POST /auth/refresh',
  'POST /auth/session',
  'POST /auth/forgot-password',
  'POST /auth/reset-password',
  'POST /auth/verify-email',
  'GET /auth/verify-email/page',
  'POST /auth/verify-email/page',
  'GET /integrations/oauth-client.json',
  'GET /integrations/callback',
  'POST /integrations/callback',
  'GET /integrations/whatsapp/inbound',
  'POST /integrations/whatsapp/inbound',
  'GET /checkout/{key}',
  'POST /checkout/{key}',
  'GET /preview/{id}',
  'GET /preview/{id}/{path}',
  'GET /.well-known/oauth-protected-resource',
  'GET /.well-known/oauth-protected-resource/mcp',
  'GET /.well-known/oauth-protected-resource/v1/mcp',
  'GET /health',
  'GET /health/ready',
  'GET /health/live',
  'GET /health/browser',
  'GET /',
  'GET /openapi.json',
  'GET /docs',
  'GET /docs/scalar.js',
];

/** Only a person may. */
const sessionOperations = [
  'PATCH /auth/me',
  'POST /auth/logout',
  'POST /auth/2fa/enroll',
  'POST /auth/2fa/confirm',
  'POST /auth/2fa/disable',
  'POST /auth/verify-email/resend',
  'DELETE /auth/session',
  'GET /settings',
  'PATCH /settings',
  'POST /billing/checkout',
  'GET /integrations/connect',
  'GET /integrations/mcp/{id}/connect',
  'PATCH /commerce/spending-limits',
  'POST /trading/halt',
  'POST /trading/resume',
];

const guarded: Record<string, { read: string; write: string }> = {
  '/tasks': { read: 'tasks.read', write: 'tasks.write' },
  '/agents': { read: 'agents.read', write: 'agents.write' },
  '/workspaces': { read: 'workspaces.read', write: 'workspaces.write' },
  '/deployments': { read: 'workspaces.read', write: 'workspaces.write' },
  '/integrations': { read: 'integrations.read', write: 'integrations.write' },
  '/commerce': { read: 'commerce.read', write: 'commerce.write' },
  '/trading': { read: 'trading.read', write: 'trading.write' },
  '/billing': { read: 'billing.read', write: 'session' },
  // A key can grant only its own rights: these endpoints check the content of the request.
  '/api-keys': { read: 'any', write: 'any' },
  // Each call has the scope of its endpoint.
  '/mcp': { read: 'any', write: 'any' },
  '/auth/me': { read: 'any', write: 'session' },
};

/** null: public; undefined: not in the table. */
export function scopeByContract({ name, method, path }: { name: string; method: string; path: string }): string | null | undefined {
  if (publicOperations.includes(name)) return null;
  if (sessionOperations.includes(name)) return 'session';
  const prefix = Object.keys(guarded).find((beginning) => path === beginning || path.startsWith(`${beginning}/`));
  return prefix && guarded[prefix]![method === 'GET' ? 'read' : 'write'];
}
