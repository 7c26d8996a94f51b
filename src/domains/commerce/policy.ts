/** What commerce requires of an account. */
import type { AccountRow } from '../accounts/contract.ts';
import { planOf } from '../accounts/contract.ts';

/** Virtual cards are issued, shown and used on the business plan alone. */
export const mayUseCards = (account: AccountRow | null): boolean => account !== null && planOf(account) === 'business';

export const cardsNeedBusiness = 'Virtual cards need the business plan';
