/**
 * The symbols of the embedded feed: well-known tickers and coins, with a price of early 2026, a daily volume and a dividend that are
 * roughly real. Everything else is invented: these are not the histories of these companies.
 */
import { fromNano } from '../../decimal.ts';
import { type AssetClass, tickOf } from '../symbol.ts';
import { log, seedOf } from './random.ts';

export type Listing = {
  symbol: string;
  assetClass: AssetClass;
  seed: number;
  /** Logarithm of the price at the anchor (`levels.ts`). */
  logPrice: number;
  /** The deviation of the logarithm of a day's own return, and the weight of the common return in it. */
  sigma: number;
  beta: number;
  /** Of a day, in `1 / volumeUnits` shares or coins. */
  dayVolume: number;
  volumeUnits: number;
  /** Prices are whole numbers of ticks inside; a price is `ticks / ticksPerUnit`. */
  ticksPerUnit: number;
  minTicks: number;
  /** Half of the usual spread, as a fraction of the price. */
  spread: number;
  /** A year's dividends as a fraction of the price. */
  dividendYield: number;
  formerName: { from: string; date: string } | null;
};

/** Raised when a change moves any price, volume or date: golden values in the tests hold it. */
export const feedVersion = 1;

/** Each line: deviation, beta; then symbol, price, millions of shares a day, dividend in percent. */
const equities = `
.010 1.15: AAPL 260 50 .4, MSFT 480 22 .7, GOOGL 310 30 .3, GOOG 311 20 .3, AMZN 230 40 0, META 650 14 .3, NVDA 186 180 .02, AVGO 345 25 .7, ORCL 195 20 1, CRM 260 8 .6, ADBE 350 4 0, CSCO 77 20 2.2, IBM 295 4 2.3, INTU 650 2 .6, NOW 150 8 0, QCOM 173 8 2, TXN 178 7 3.1, AMAT 270 7 .7, LRCX 185 11 .6, KLAC 1250 1 .6, ADI 275 4 1.4, MU 320 25 .1, INTC 38 90 0, AMD 220 35 0, ACN 270 4 2.4, SNPS 490 2 0, CDNS 320 2 0, PANW 187 6 0, FTNT 80 6 0, ANET 132 8 0, APH 138 8 .6, MSI 380 1 1.2, ROP 445 1 .7, ADP 258 2 2.5, PAYX 113 3 3.7, FI 66 10 0, FIS 66 5 2.4, GPN 78 3 1.3, CTSH 83 4 1.5, HPQ 22 12 5.2, HPE 24 18 2.2, DELL 126 7 1.6, NTAP 108 2 1.9, WDC 188 8 .2, STX 290 4 1, GLW 88 6 1.2, MCHP 65 9 2.8, NXPI 220 3 1.8, ON 55 8 0, MRVL 88 15 .3, SWKS 64 3 4.4, TER 200 3 .2, KEYS 205 1 0, ZBRA 245 1 0, TYL 450 1 0, IT 250 1 0, AKAM 88 2 0, VRSN 243 1 1.3, GEN 27 4 1.8, FFIV 257 1 0
.020 1.5: TSLA 440 75 0, PLTR 178 45 0, COIN 240 9 0, SHOP 162 8 0, SNOW 222 4 0, CRWD 470 3 0, DDOG 137 4 0, NET 197 3 0, ZS 225 2 0, MDB 420 2 0, OKTA 87 2 0, TEAM 157 3 0, WDAY 212 2 0, ROKU 110 3 0, SNAP 8 40 0, PINS 26 11 0, RBLX 82 8 0, U 45 9 0, HOOD 115 25 0, SOFI 27 60 0, AFRM 75 7 0, UPST 47 5 0, SQ 65 8 0, PYPL 58 12 .9, RIVN 19 35 0, LCID 11 20 0, NIO 5 40 0, GME 21 7 0, AMC 2 15 0, MSTR 160 18 0, MARA 10 45 0, RIOT 14 18 0, SMCI 30 25 0, ARM 115 6 0, ASML 1100 2 .7, TSM 305 12 1.2, BABA 150 12 .7, PDD 115 7 0, JD 29 10 3, BIDU 135 4 0, SE 130 4 0, MELI 2020 1 0, SPOT 575 2 0, ABNB 136 5 0, DASH 225 4 0, UBER 82 18 0, LYFT 19 15 0, DKNG 35 9 0, ZM 86 3 0, DOCU 68 2 0, TWLO 140 3 0, TTD 38 12 0, APP 670 5 0, ENPH 32 6 0, FSLR 262 2 0, PLUG 2 80 0, MRNA 30 10 0, BNTX 95 1 0
.009 1.1: JPM 325 9 1.8, BAC 55 35 2, WFC 94 14 1.9, C 117 14 2, GS 880 2 1.8, MS 178 5 2.2, BRK.A 755000 .001 0, BRK.B 502 4 0, V 350 6 .8, MA 570 3 .6, AXP 370 3 .9, BLK 1080 1 1.9, SCHW 100 9 1.1, USB 54 8 3.8, PNC 210 2 3.2, TFC 50 7 4.2, COF 243 3 1.3, BK 117 4 1.8, STT 130 2 2.6, SPGI 523 1 .7, MCO 510 1 .7, ICE 162 3 1.2, CME 273 2 1.8, NDAQ 97 3 1.1, CB 312 2 1.2, PGR 228 3 .2, TRV 290 1 1.5, ALL 208 1 1.9, AIG 86 4 2.1, MET 79 3 2.9, PRU 113 2 4.8, AFL 110 2 2.1, AON 353 1 .8, MMC 186 2 1.9, AJG 260 1 1, TROW 102 1 5, BX 154 5 3, KKR 128 4 .6, APO 145 3 1.4, FITB 47 5 3.4, RF 27 9 3.9, KEY 21 14 4, HBAN 17 22 3.6, CFG 58 4 2.9, MTB 201 1 3, SYF 83 3 1.4
.008 .7: JNJ 207 8 2.5, UNH 330 8 2.7, LLY 1075 3 .6, PFE 25 45 6.9, MRK 105 10 3.2, ABBV 229 5 3, TMO 580 2 .3, ABT 125 6 2, DHR 229 3 .5, BMY 54 13 4.6, AMGN 327 2 2.9, GILD 123 6 2.6, VRTX 453 1 0, REGN 772 1 .5, BIIB 176 1 0, ISRG 566 2 0, SYK 351 1 1, MDT 96 6 3, BSX 95 8 0, BDX 194 2 2.2, ZTS 126 4 1.6, CI 275 2 2.2, CVS 79 8 3.4, ELV 350 2 2, HUM 256 1 1.4, HCA 467 1 .6, MCK 820 1 .4, COR 338 1 .7, CAH 205 2 1, EW 85 4 0, IDXX 677 1 0, A 136 2 .7, IQV 225 1 0, DXCM 66 5 0, ILMN 131 2 0, BAX 19 7 .2
.008 .6: WMT 111 22 .8, COST 862 2 .6, PG 143 9 3, KO 70 16 2.9, PEP 143 7 4, PM 160 5 3.7, MO 58 9 7.3, MDLZ 54 9 3.7, CL 79 5 2.6, KMB 101 4 5, GIS 46 5 5.3, K 83 3 2.8, HSY 182 2 3, STZ 138 2 2.9, KHC 24 13 6.6, SYY 74 3 2.9, KR 62 6 2.2, TGT 98 5 4.6, HD 345 4 2.7, LOW 241 2 2, MCD 306 3 2.4, SBUX 84 9 2.9, NKE 64 16 2.5, TJX 154 5 1.1, ROST 180 2 .9, DG 133 3 1.8, DLTR 123 3 0, BBY 67 3 5.7, ULTA 605 1 0, LULU 208 3 0, YUM 151 2 1.9, CMG 37 17 0, DPZ 417 1 1.7, EL 105 3 1.3, ORLY 91 5 0, AZO 3390 .2 0, F 13 55 4.5, GM 81 9 .7, MAR 310 1 .9, HLT 287 1 .2, BKNG 5350 .2 .7, EXPE 283 1 .6, CCL 31 18 0, RCL 279 2 1.4, NCLH 22 14 0, DAL 69 8 1.1, UAL 112 6 0, AAL 15 45 0, LUV 41 7 1.7
.009 1: BA 217 7 0, CAT 573 3 1, DE 466 1 1.4, HON 195 4 2.3, GE 308 5 .5, MMM 160 3 1.8, LMT 484 1 2.8, RTX 183 5 1.5, NOC 570 1 1.6, GD 337 1 1.8, UPS 99 6 6.6, FDX 289 2 2, UNP 231 3 2.4, CSX 36 13 1.4, NSC 289 1 1.9, EMR 133 3 1.6, ETN 319 3 1.3, ITW 246 1 2.6, PH 879 1 .8, ROK 389 1 1.4, CMI 510 1 1.5, PCAR 110 3 1.2, WM 220 2 1.5, RSG 212 1 1.2, URI 809 1 .9, LIN 426 2 1.4, APD 247 1 2.9, SHW 324 2 1, ECL 263 1 1, FCX 51 18 .6, NEM 100 9 1, NUE 163 2 1.3, DOW 23 14 6, DD 40 5 2, PPG 102 2 2.7, GEV 654 3 .3
.010 .8: XOM 120 15 3.3, CVX 152 8 4.5, COP 94 7 3.5, SLB 38 15 3, EOG 105 4 3.9, MPC 163 2 2.4, PSX 129 3 3.7, VLO 163 3 2.8, OXY 41 11 2.3, HAL 28 11 2.4, KMI 27 12 4.3, WMB 60 7 3.3, DVN 37 8 2.6, BKR 46 7 2
.006 .5: NEE 80 9 2.8, DUK 117 4 3.6, SO 87 5 3.4, D 59 6 4.6, AEP 115 3 3.2, EXC 44 7 3.7, XEL 74 4 3.1, SRE 88 3 2.9, PCG 16 18 1, T 25 35 4.5, VZ 41 20 6.8, TMUS 203 5 2, CMCSA 30 25 4.4, DIS 114 9 1.3, NFLX 94 38 0, WBD 29 35 0, PLD 128 3 3.2, AMT 176 3 3.9, EQIX 766 1 2.5, SPG 185 1 4.7, O 56 6 5.7, PSA 260 1 4.6, CCI 89 3 4.8, DLR 155 2 3.2, VICI 28 8 6.4, EA 204 4 .4, TTWO 256 2 0
.0015 1: SPY 682 75 1.1, VOO 627 8 1.1, IVV 685 6 1.1, VTI 336 4 1.1, DIA 481 4 1.5, MDY 603 1 1.1
.004 1.2: QQQ 614 52 .5, IWM 246 32 1, XLK 144 14 .6, XLF 55 40 1.4, XLE 45 30 3.2, XLV 155 9 1.6, XLI 155 9 1.3, XLY 119 8 .8, XLP 78 14 2.7, XLU 43 16 2.7, ARKK 77 8 0, SMH 360 7 .3, VGK 84 3 2.8, EEM 55 28 2.2, EFA 96 12 2.8
.004 -.1: TLT 87 32 4.4, IEF 96 7 3.8, SHY 83 4 3.8, AGG 100 8 3.9, LQD 110 22 4.4, HYG 81 35 5.7, GLD 398 11 0, SLV 65 40 0, USO 69 4 0`;

/** Each line: deviation, beta of the common return of coins; then coin, price, coins a day. Pairs with USD, and those of the first line also with USDC, USDT and EUR. */
const coins = `
.012 1: BTC 90000 300000, ETH 3100 6000000
.022 1.1: SOL 130 30000000, XRP 2 2000000000, DOGE .13 9000000000, ADA .37 1500000000, AVAX 13.5 30000000, LINK 13 40000000, DOT 2 100000000, LTC 80 6000000, BCH 600 800000, UNI 6 40000000, AAVE 160 2000000`;

const quoteCurrencies = ['USDC', 'USDT', 'EUR'];
/** The assumed price of a EUR in USD at the anchor. */
const euro = 1.17;

function equity(sigma: number, beta: number, row: string): Listing {
  const [symbol = '', price, millions, percent] = row.split(' ');
  const dayVolume = Math.round(Number(millions) * 1e6);
  return {
    symbol,
    assetClass: 'equity',
    seed: seedOf(`${feedVersion}/${symbol}`),
    logPrice: log(Number(price)),
    sigma,
    beta,
    dayVolume,
    volumeUnits: 1,
    ticksPerUnit: 100,
    // Below 1 USD the price step would differ.
    minTicks: 100,
    // 0.4 basis points at a daily volume of a billion dollars, 4 at ten million.
    spread: Math.min(10e-4, 4e-5 * Math.sqrt(1e9 / (dayVolume * Number(price)))),
    dividendYield: Number(percent) / 100,
    formerName: symbol === 'META' ? { from: 'FB', date: '2022-06-09' } : null,
  };
}

function pair(sigma: number, beta: number, coin: string, quote: string, price: number, dayVolume: number): Listing {
  const symbol = `${coin}-${quote}`;
  return {
    symbol,
    assetClass: 'crypto',
    // All pairs of a coin move together: their seed is that of its first pair.
    seed: seedOf(`${feedVersion}/${coin}-USD`),
    logPrice: log(price),
    sigma,
    beta,
    dayVolume: dayVolume * 1_000,
    volumeUnits: 1_000,
    ticksPerUnit: Math.round(1 / fromNano(tickOf({ symbol, assetClass: 'crypto' }, 0n))),
    minTicks: 10,
    spread: 1e-4,
    dividendYield: 0,
    formerName: null,
  };
}

function linesOf(table: string): { sigma: number; beta: number; rows: string[] }[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [head = '', rows = ''] = line.split(': ');
      const [sigma, beta] = head.split(' ').map(Number);
      return { sigma: sigma!, beta: beta!, rows: rows.split(', ') };
    });
}

const listings: Listing[] = [
  ...linesOf(equities).flatMap(({ sigma, beta, rows }) => rows.map((row) => equity(sigma, beta, row))),
  ...linesOf(coins).flatMap(({ sigma, beta, rows }, line) =>
    rows.flatMap((row) => {
      const [coin = '', price, volume] = row.split(' ');
      const usd = pair(sigma, beta, coin, 'USD', Number(price), Number(volume));
      if (line > 0) return [usd];
      const others = quoteCurrencies.map((quote) =>
        pair(sigma, beta, coin, quote, quote === 'EUR' ? Number(price) / euro : Number(price), Math.round(Number(volume) / 4)),
      );
      return [usd, ...others];
    }),
  ),
];

/** By symbol. */
export const universe: ReadonlyMap<string, Listing> = new Map(listings.map((listing) => [listing.symbol, listing]));
