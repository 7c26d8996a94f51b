/**
 * A sum that is exact to the last written decimal. Numbers with few decimals are added as scaled integers, so 0.1 + 0.2 is 0.3; only
 * numbers that are too long for that use compensated (Neumaier) addition.
 */

const maxExact = 2 ** 50;
const maxDecimals = 12;

export class ExactSum {
  /** One integer sum per number of decimals; `high` holds the part beyond exact doubles. */
  private low: number[] = [];
  private high: bigint[] = [];
  private rest = 0;
  private compensation = 0;
  private hasRest = false;

  /** @param decimals number of written decimals of `value` */
  add(value: number, decimals: number): void {
    if (decimals <= maxDecimals) {
      const scaled = decimals === 0 ? value : Math.round(value * 10 ** decimals);
      if (Math.abs(scaled) <= maxExact && Number.isInteger(scaled)) {
        const sum = (this.low[decimals] ?? 0) + scaled;
        if (Math.abs(sum) <= maxExact) {
          this.low[decimals] = sum;
        } else {
          this.high[decimals] = (this.high[decimals] ?? 0n) + BigInt(sum);
          this.low[decimals] = 0;
        }
        return;
      }
    }
    this.hasRest = true;
    const next = this.rest + value;
    this.compensation += Math.abs(this.rest) >= Math.abs(value) ? this.rest - next + value : value - next + this.rest;
    this.rest = next;
  }

  /** The number nearest to the true sum. */
  total(): number {
    const places = this.low.length - 1;
    let units = 0n;
    for (let decimals = 0; decimals <= places; decimals++) {
      const sum = (this.high[decimals] ?? 0n) + BigInt(this.low[decimals] ?? 0);
      units += sum * 10n ** BigInt(places - decimals);
    }
    // Parsing a text rounds once, correctly; a division would round twice.
    const exact = Number(`${units}e-${Math.max(places, 0)}`);
    return this.hasRest ? exact + (this.rest + this.compensation) : exact;
  }
}
