/** The argument `queries` of profile_table: questions over the rows of one table. */
import Type from 'typebox';

/** A day as in ISO 8601. */
export const dayPattern = '^[0-9]{4}-[0-9]{2}-[0-9]{2}$';
const column = Type.String({ minLength: 1, maxLength: 255, description: 'The name of a column' });
const values = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: 24 });
const timeUnit = Type.Enum(['minutes', 'hours', 'days']);

const limit = Type.Object({
  than: Type.Enum(['over', 'at_least', 'under', 'at_most']),
  amount: Type.Number(),
  unit: Type.Optional(Type.Enum(['minutes', 'hours', 'days', 'percent'])),
});

const rowValue = Type.Union([
  Type.Object({ kind: Type.Literal('difference'), of: column, less: column }),
  Type.Object({ kind: Type.Literal('product'), of: column, times: column }),
  Type.Object({ kind: Type.Literal('column'), of: column }),
  Type.Object({ kind: Type.Literal('outcome'), of: column, is: values }),
  Type.Object({ kind: Type.Literal('row') }),
]);

const key = Type.Object({
  column,
  part: Type.Optional(Type.Enum(['weekday', 'day', 'week', 'month', 'quarter', 'year', 'hour'])),
  split: Type.Optional(Type.String({ pattern: dayPattern, description: 'Groups the rows before this day, and those from it on' })),
});

const condition = Type.Object({
  column,
  is: Type.Optional(values),
  is_not: Type.Optional(values),
  from: Type.Optional(Type.String({ pattern: dayPattern, description: 'The first day' })),
  before: Type.Optional(Type.String({ pattern: dayPattern, description: 'The day after the last' })),
  weekdays: Type.Optional(Type.Array(Type.Integer({ minimum: 0, maximum: 6 }), { maxItems: 7, description: '0 is Sunday' })),
  months: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 12 }), { maxItems: 12 })),
});

export const tableQueries = Type.Array(
  Type.Object({
    value: rowValue,
    figure: Type.Enum(['mean', 'sum', 'share', 'weighted', 'rows']),
    weight: Type.Optional(column),
    by: Type.Optional(Type.Array(Type.Array(key, { minItems: 1, maxItems: 2 }), { maxItems: 3 })),
    where: Type.Optional(Type.Array(condition, { maxItems: 6 })),
    limit: Type.Optional(limit),
    target: Type.Optional(limit),
    top: Type.Optional(Type.Integer({ minimum: 1, maximum: 25 })),
    lowest: Type.Optional(Type.Boolean()),
    unit: Type.Optional(timeUnit),
  }),
  {
    minItems: 1,
    maxItems: 16,
    description:
      'Instead of the profile, answers in sentences to questions over the rows: a value of each row (the difference of two columns of numbers, dates or times of day, a product, a column, or whether a cell is one of some values; `yes` means all its spellings), ' +
      'its mean, sum, share of the rows within `limit`, sum ÷ sum of `weight`, or the rows with the largest values; by groups (columns or parts of dates; two keys are crossed), for the rows that meet all of `where`; `target` says which groups keep it',
  },
);
