/** Every service that accounts can connect: a new one is added here. `docs/integrations.md` says how its description is written. */
import type { Service } from './service.ts';

export const services: readonly Service[] = [];
