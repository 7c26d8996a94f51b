/** What other domains may import of accounts: an account, its plan, its limits and settings. */

export type { AccountRow, WaitingFor } from './account/entity.ts';
export { Invoice, type InvoiceLine, type InvoiceRow } from './account/invoice-entity.ts';
export { account, type PlanChange, placeName } from './account/messages.ts';
export type { RegistrationPort, TaskPort } from './account/ports.ts';
export { minutes, planOf, quoteFor, type UsageSummary, usageSummaryOf } from './account/usage.ts';
export { accountSettings, autoApproveSetting, type Settings, tradingLimitsOf } from './account-settings/messages.ts';
export type { TimezonePort, TradingLimits, TradingLimitsPort } from './account-settings/ports.ts';
export { isRegistered } from './account-storage/count.ts';
export { accountStorage } from './account-storage/messages.ts';
export { mustFit, sizeText, storageLimits } from './account-storage/storage-limits.ts';
export { accountsIds } from './ids.ts';
