import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { SysError } from "../lib/sys-error.ts";
import { checkCron, parseCron } from "./cron.ts";

/** Its five lists of numbers. */
function valuesOf(expression: string): string {
  const { minute, hour, day, month, weekday } = parseCron(expression);
  return [minute, hour, day, month, weekday].map(({ values, text }) => (text === "*" ? "*" : values.join(","))).join(" ");
}

describe("is understood", () => {
  it.each([
    ["30 9 * * 1-5", "30 9 * * 1,2,3,4,5"],
    ["  0\t9  1,15 * *  ", "0 9 1,15 * *"],
    ["*/20 8-18/4 * * *", "0,20,40 8,12,16 * * *"],
    ["5/10 0 * * *", "5 0 * * *"],
    ["0 0 * JAN-mar,Dec Mon,fri", "0 0 * 1,2,3,12 1,5"],
    ["0 0 * * 7", "0 0 * * 0"],
    ["0 0 * * 5-7", "0 0 * * 0,5,6"],
    ["0 0 * * fri-sun", "0 0 * * 0,5,6"],
    ["0 0 * * sun-tue", "0 0 * * 0,1,2"],
    ["1,1,3,2 0 * * *", "1,2,3 0 * * *"],
    ["@hourly", "0 * * * *"],
    ["@Daily", "0 0 * * *"],
    ["@midnight", "0 0 * * *"],
    ["@weekly", "0 0 * * 0"],
    ["@monthly", "0 0 1 * *"],
    ["@yearly", "0 0 1 1 *"],
    ["@annually", "0 0 1 1 *"],
  ])("%s", (expression, expected) => expect(valuesOf(expression)).toBe(expected));
});

describe("is refused", () => {
  it.each([
    ["", "five fields"],
    ["0 9 * *", "This one has 4"],
    ["0 0 9 * * *", "This one has 6: leave out seconds"],
    ["60 * * * *", 'minute "60" is out of range: minutes are 0-59'],
    ["0 24 * * *", 'hour "24" is out of range: hours are 0-23'],
    ["0 0 0 * *", 'day of month "0" is out of range: days of a month are 1-31'],
    ["0 0 * 13 *", 'month "13" is out of range: months are 1-12 or JAN-DEC'],
    ["0 0 * * 8", 'weekday "8" is out of range: weekdays are 0-7 or SUN-SAT'],
    ["0 17-9 * * *", 'hour "17-9" is a range that ends before it begins'],
    ["0 0 * * sat-mon", 'weekday "sat-mon" is a range that ends before it begins'],
    ["0 0 * * 5-0", "Sunday at the end of a range is 7"],
    ["*/0 * * * *", "a step that is not 1-59"],
    ["*/90 * * * *", "a step that is not 1-59"],
    ["*/ * * * *", "a step that is not 1-59"],
    ["1/2/3 * * * *", "is not understood"],
    ["1-2-3 * * * *", "is not understood"],
    ["1,,2 * * * *", "is not understood"],
    ["-1 * * * *", "is not understood"],
    ["1.5 * * * *", "is not understood"],
    ["*5 * * * *", "is not understood"],
    ["0 0 L * *", "L, W, # or ?, which are not supported"],
    ["0 0 15W * *", "L, W, # or ?, which are not supported"],
    ["0 0 ? * *", "L, W, # or ?, which are not supported"],
    ["0 0 * * 5#3", "L, W, # or ?, which are not supported"],
    ["0 0 * monday *", "is not understood"],
    ["@reboot", "@hourly, @daily"],
    ["@toString", "is not a time"],
    [`${"1,".repeat(150)}1 * * * *`, "at most 200 characters"],
  ])("%s", (expression, why) => expect(() => parseCron(expression)).toThrow(why));
});

describe("days that no month has are refused at once", () => {
  it.each([
    ["0 0 30 2 *", "Feb cannot have day 30. Choose an earlier day or another month"],
    ["0 0 31 4,6 *", "Apr and Jun cannot have day 31"],
    ["0 0 31 2,4,6,9,11 */7", "Feb, Apr, Jun, Sep and Nov cannot have day 31"],
  ])("%s", (expression, why) => expect(() => checkCron(expression)).toThrow(why));

  it.each(["0 0 29 2 *", "0 0 31 4,5 *", "0 0 30 2 1", "0 0 31 * *"])("but not %s", (expression) => checkCron(expression));
});

test("every reversed range is refused, every other is not", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 59 }), fc.integer({ min: 0, max: 59 }), (from, to) => {
      const read = () => parseCron(`${from}-${to} * * * *`);
      if (from > to) expect(read).toThrow("ends before it begins");
      else expect(read().minute.values).toHaveLength(to - from + 1);
    }),
  );
});

test("whatever is written, it is understood or refused with 400", () => {
  const piece = fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.constantFrom("*", "*/2", "1-5", "mon", "jan-dec", "0", "59", "L", "?", ",", "/", "-"),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 7 }), (pieces) => {
      try {
        for (const field of Object.values(parseCron(pieces.join(" ")))) if (typeof field === "object") expect(field.values).not.toEqual([]);
      } catch (error) {
        expect(error).toBeInstanceOf(SysError);
        expect(error).toHaveProperty("code", 400);
      }
    }),
  );
});
