/** What commerce requires of an account. */
import type { AccountRow } from '../accounts/contract.ts';
import { planOf } from '../accounts/contract.ts';

/** Only the business plan can issue, show and use virtual cards. */
export const mayUseCards = (account: AccountRow | null): boolean => account !== null && planOf(account) === 'business';

export const cardsNeedBusiness = 'Virtual cards need the business plan';
