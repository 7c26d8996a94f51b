/** The tables of identity. */
import type { Schema } from '../../storage/schema.ts';
import { ApiKey } from './api-key/entity.ts';
import { EmailAddress } from './email-address/entity.ts';
import { Session } from './session/entity.ts';
import { Throttle } from './throttle/entity.ts';
import { User } from './user/entity.ts';

export const identitySchema: Schema = { entities: [ApiKey, EmailAddress, Session, Throttle, User] };
