/** Apart from the options, which load what the checks need. */
export const tradingUsage = 'npm run troupe -- trading account|orders|halt|resume|check, or --help for all options';
