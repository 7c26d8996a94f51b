/** Bodies of responses that many tests read, with the fields that they use. */
import type { Json } from './json.ts';

export type Refused = { detail: string };
type Issue = { loc: string[]; type: string; msg: string };
export type Invalid = { detail: [Issue, ...Issue[]] };

/** A new key: its secret is in this one answer. */
export type NewApiKey = { id: string; key: string; name: string; scopes: string[]; mode: string };
export type ApiKeyList = { data: [ListedKey, ...ListedKey[]]; has_more: boolean; total: number };
type ListedKey = { id: string; name: string; last_four: string };

export type Tokens = { account_id: string; user_id: string; access_token: string; refresh_token: string; expires_in: number };

export type EventBody = { id: string; seq: number; type: string; account_id: string; created_at: string; data: Json };
export type Approval = { id: string; agent_id: string; status: string; action: string; arguments: Json; summary: string };
