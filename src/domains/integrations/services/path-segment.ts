/** A model's values inside the paths of requests: encoded, and never a step to another path. */
import { ServiceFailed } from './service-failure.ts';

/** One segment. Throws `ServiceFailed` if the value is not one. `field`: its argument. */
export function pathSegment(value: string, field: string): string {
  if (value === '' || value === '.' || value === '..')
    throw new ServiceFailed({ type: 'invalid', message: `${field} may not be, and may not contain, an empty part, "." or ".."`, field });
  return encodeURIComponent(value);
}

/** Several segments, with the slashes between them. */
export function pathSegments(value: string, field: string): string {
  return value
    .split('/')
    .map((part) => pathSegment(part, field))
    .join('/');
}
