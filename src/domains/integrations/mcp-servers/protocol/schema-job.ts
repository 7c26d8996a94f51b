/** Checks a value against another server's schema, in a computing process. */
import type { JobFunction } from '../../../../providers/compute/port.ts';
import type { SchemaAndValue } from './schema-check.ts';
import { problemIn } from './schemas.ts';

const job: JobFunction<SchemaAndValue, string | null> = ({ schema, value }) => problemIn(schema, value);
export default job;
