/** Payment processors: where a customer pays for a checkout. Embedded: a page of this service, which charges nothing and says so. */

export interface PaymentsProvider {
  /** Where the customer goes to pay; the same for the same checkout. @param publicUrl what addresses of this service begin with */
  pageOf(checkoutId: string, publicUrl: string): string;
  /** The checkout whose page the holder of this key may use; null for what is no key of ours. */
  checkoutOf(key: string): string | null;
  /** Said to people where they pay; null where there is nothing to say. */
  readonly notice: string | null;
}
