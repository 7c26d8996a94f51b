/** What other domains may use of billing: checkouts. */
export { checkout, paymentBounds } from './checkout/messages.ts';
export type { CheckoutPages } from './routes/checkout.ts';
