/** The API reference's chapters on identity, with examples. */
import { exampleId } from '../../edge/http/examples.ts';
import type { ReferencePart } from '../../edge/http/reference-part.ts';

export const identityApi: ReferencePart = {
  chapters: [
    { name: 'API keys', paths: ['/api-keys'], description: 'Keys for programs, limited by their scopes.' },
    { name: 'Sign-in', paths: ['/auth'], description: 'Users: registration, sign-in and sign-out, passwords and second factors.' },
  ],
  examples: {
    '/api-keys/{id}': exampleId('key-'),
    'ApiKey.id': exampleId('key-'),
    'CreatedApiKey.id': exampleId('key-'),
    'User.id': exampleId('usr_'),
    access_token: 'v4.public.eyJzdWIiOiJ1c3JfMDFqbnk4…',
    challenge_token: 'v4.public.eyJwdXJwb3NlIjoi…',
    code: '492039',
    csrf_token: 'c7Qm2wX0',
    'TokenResponse.expires_in': 3_600,
    key: 'mk_live_4fT9xQ0rB7…',
    last_four: 'k3Zp',
    'User.name': 'Ann',
    password: 'a long enough password',
    recovery_codes: ['7kq2-9xwm-4tzp'],
    refresh_token: 'rt_01jny8e2zjv6x0r3k9m4t7w5ab_8Jx…',
    scopes: ['tasks.read', 'tasks.write'],
    token: 'v4.public.eyJyZXNldCI6…',
  },
};
