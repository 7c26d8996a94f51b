/** Input and answers of the endpoints under /auth. */
import Type from 'typebox';
import { challengeLifeMs } from '../../../edge/auth/tokens.ts';
import { plans } from '../../../plans.ts';

export const Email = Type.String({
  format: 'email',
  maxLength: 254,
  description: 'Case does not matter; letters of any script are accepted',
});
export const NewPassword = Type.String({ minLength: 10, maxLength: 128 });
export const Name = Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }), Type.Null()]));
/** Any text is compared, so none is refused for its form. */
export const Credentials = { email: Type.String({ minLength: 1, maxLength: 320 }), password: Type.String({ maxLength: 1_024 }) };
export const Code = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'The six digits of the authenticator app, or a recovery code',
});
export const Message = Type.Object({ message: Type.String() }, { title: 'Message' });
export const RefreshToken = Type.Object({ refresh_token: Type.String({ maxLength: 256 }) });

export const TokenResponse = Type.Object(
  {
    access_token: Type.String({ description: 'A PASETO v4.public token' }),
    refresh_token: Type.String({ description: 'Valid once, for seven days' }),
    token_type: Type.Literal('bearer'),
    expires_in: Type.Integer({ description: 'Lifetime of the access token in seconds' }),
  },
  { title: 'TokenResponse' },
);

/** The password was right, and there is a second factor. */
export const Challenge = Type.Object(
  {
    two_factor_required: Type.Literal(true),
    challenge_token: Type.String({ description: 'For POST /auth/login/2fa, together with a code' }),
    expires_in: Type.Literal(challengeLifeMs / 1000),
  },
  { title: 'Challenge' },
);

export const CurrentUser = Type.Object(
  {
    id: Type.String(),
    email: Type.String(),
    email_verified: Type.Boolean(),
    pending_email: Type.Union([Type.String(), Type.Null()], { description: 'Replaces `email` when it is verified' }),
    name: Type.Union([Type.String(), Type.Null()]),
    account_id: Type.String(),
    plan: Type.Enum([...plans]),
    two_factor_enabled: Type.Boolean(),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'User' },
);
