/** Where sites are published. */
export const targets = ['vercel', 'netlify', 'cloudflare', 'expo'] as const;
export type Target = (typeof targets)[number];
