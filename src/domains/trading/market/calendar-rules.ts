/**
 * When the New York exchanges are closed, and when they close early: rules by year, and closures that follow no rule. Valid from 2000 on;
 * future days follow today's rules. Left out: openings that were minutes or hours late, such as on 2002-09-11.
 */

/** Days since 1970-01-01, a date without a time. */
export type DayNumber = number;

export const msPerDay = 86_400_000;

export function dayNumber(year: number, month: number, day: number): DayNumber {
  return Date.UTC(year, month - 1, day) / msPerDay;
}

/** 0 Sunday … 6 Saturday. */
export function weekday(day: DayNumber): number {
  return (((day + 4) % 7) + 7) % 7;
}

/** Attacks of 2001, mourning for Reagan, Ford, Bush and Carter, hurricane Sandy. */
const oneOffClosures = [
  ...[dayNumber(2001, 9, 11), dayNumber(2001, 9, 12), dayNumber(2001, 9, 13), dayNumber(2001, 9, 14)],
  ...[dayNumber(2004, 6, 11), dayNumber(2007, 1, 2), dayNumber(2012, 10, 29), dayNumber(2012, 10, 30)],
  ...[dayNumber(2018, 12, 5), dayNumber(2025, 1, 9)],
];
const oneOffHalfDays = [dayNumber(2003, 12, 26)];

const [monday, tuesday, wednesday, thursday, saturday] = [1, 2, 3, 4, 6];

/** Weekdays without a session. */
export function holidaysOf(year: number): DayNumber[] {
  const days = [
    newYear(year),
    nth(year, 1, 3, monday),
    nth(year, 2, 3, monday),
    easterSunday(year) - 2,
    nth(year, 6, 1, monday) - 7,
    year >= 2022 ? observed(dayNumber(year, 6, 19)) : null,
    observed(dayNumber(year, 7, 4)),
    nth(year, 9, 1, monday),
    thanksgiving(year),
    observed(dayNumber(year, 12, 25)),
    ...oneOffClosures.filter((day) => isOf(year, day)),
  ];
  return days.filter((day) => day !== null);
}

/** Sessions that end at 13:00. */
export function halfDaysOf(year: number): DayNumber[] {
  const eve = dayNumber(year, 12, 24);
  const days = [independenceDay(year), thanksgiving(year) + 1, weekday(eve) >= monday && weekday(eve) <= thursday ? eve : null];
  return [...days, ...oneOffHalfDays.filter((day) => isOf(year, day))].filter((day) => day !== null);
}

/** On a Saturday this holiday has no substitute day: the Friday before ends the accounting year. */
function newYear(year: number): DayNumber | null {
  const day = dayNumber(year, 1, 1);
  if (weekday(day) === saturday) return null;
  return weekday(day) === 0 ? day + 1 : day;
}

/** The half day around 4 July. If that is a Thursday, since 2013 Wednesday the 3rd is short; before 2013 the Friday after was. */
function independenceDay(year: number): DayNumber | null {
  const third = dayNumber(year, 7, 3);
  if ([monday, tuesday, thursday].includes(weekday(third))) return third;
  if (weekday(third) !== wednesday) return null;
  return year >= 2013 ? third : third + 2;
}

function thanksgiving(year: number): DayNumber {
  return nth(year, 11, 4, thursday);
}

/** Saturday to Friday, Sunday to Monday. */
function observed(day: DayNumber): DayNumber {
  if (weekday(day) === saturday) return day - 1;
  return weekday(day) === 0 ? day + 1 : day;
}

function nth(year: number, month: number, n: number, of: number): DayNumber {
  const first = dayNumber(year, month, 1);
  return first + ((of - weekday(first) + 7) % 7) + 7 * (n - 1);
}

function isOf(year: number, day: DayNumber): boolean {
  return new Date(day * msPerDay).getUTCFullYear() === year;
}

/** Gregorian, after the anonymous algorithm of 1876 that Meeus gives in "Astronomical Algorithms". */
function easterSunday(year: number): DayNumber {
  const a = year % 19;
  const century = Math.floor(year / 100);
  const c = year % 100;
  const g = Math.floor((8 * century + 13) / 25);
  const h = (19 * a + century - Math.floor(century / 4) - g + 15) % 30;
  const l = (32 + 2 * (century % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7;
  const m = Math.floor((a + 11 * h + 22 * l) / 451);
  const n = h + l - 7 * m + 114;
  return dayNumber(year, Math.floor(n / 31), (n % 31) + 1);
}

/**
 * New York's offset behind UTC on a day, in minutes; not valid in the hours around the change at 02:00. The rules since 1987; 2007 moved
 * both dates.
 */
export function newYorkBehindMinutes(day: DayNumber): 240 | 300 {
  const year = new Date(day * msPerDay).getUTCFullYear();
  const [begins, ends] = year >= 2007 ? [nth(year, 3, 2, 0), nth(year, 11, 1, 0)] : [nth(year, 4, 1, 0), lastSundayOfOctober(year)];
  return day >= begins && day < ends ? 240 : 300;
}

function lastSundayOfOctober(year: number): DayNumber {
  const last = dayNumber(year, 10, 31);
  return last - weekday(last);
}
