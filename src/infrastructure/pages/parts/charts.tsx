import { scaleLinear } from 'd3-scale';
import { line } from 'd3-shape';
import type { ComponentChildren, VNode } from 'preact';
import { usePage } from '../page.js';
import { localClock, localDay } from '../time-zones.js';
import type { Tone } from './elements.js';
import { pathWith } from './list.js';

const NUMBER = new Intl.NumberFormat('en');
const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** Returns a number with separators, as all pages show it: 1,204. */
export const inDigits = (value: number): string => NUMBER.format(value);
/** Returns a share in percent: 2.9%. */
export const inPercent = (share: number): string => PERCENT.format(share);
/** Returns a duration: 1,204 ms. */
export const inMilliseconds = (value: number): string => `${inDigits(Math.round(value))} ms`;

/** Milliseconds in few letters, such as `12 s`. @param highest of the values beside it, which have the same unit */
export const inShortTime = (value: number, highest = value): string =>
  highest < 1_000 ? inMilliseconds(value) : `${inDigits(value / 1_000)} s`;

interface Series {
  readonly label: string;
  readonly tone: Tone;
  /** One value per label of the chart; null where there is none. */
  readonly values: readonly (number | null)[];
  /** With a script, a click on a bar of the series adds this filter to the path of its label. */
  readonly outcome?: 'success' | 'failure';
}

interface ChartProps {
  readonly title: string;
  /** The labels of the horizontal axis, all different, such as times. */
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  /** The page about the entries of a label, by its position. Where there are entries, the chart and its table lead there. */
  readonly pathOf?: (index: number) => string;
  /** Formats a value. Defaults to a number with separators. */
  readonly format?: (value: number) => string;
  /** The format of the axis, which has room for few letters. Defaults to that of the values. */
  readonly formatTick?: (value: number, highest: number) => string;
}

const WIDTH = 480;
const HEIGHT = 190;
const MARGIN = { top: 26, right: 24, bottom: 26 };
/** About the width of a letter of the axis. */
const LETTER = 8;
const FLOOR = HEIGHT - MARGIN.bottom;
/** The line of the values above a chart. */
const BASELINE = 14;

/** The places of the labels, which share the axis equally. */
interface Places {
  readonly left: number;
  /** The width of a label. */
  readonly step: number;
  readonly centerOf: (index: number) => number;
}

/** Returns the places of labels to the right of the values of the vertical axis. */
function placesOf(labels: readonly string[], values: readonly Tick[]): Places {
  const left = LETTER * Math.max(...values.map(({ text }) => text.length)) + 10;
  const step = (WIDTH - left - MARGIN.right) / labels.length;
  return { left, step, centerOf: (index) => round(left + (index + 0.5) * step) };
}

interface Tick {
  readonly value: number;
  readonly text: string;
}

/** Returns the values that the vertical axis shows. */
function valueTicks(y: Scale, { format = inDigits, formatTick = format }: ChartProps): Tick[] {
  const values = y.ticks(4).filter(Number.isInteger);
  return values.map((value) => ({ value, text: formatTick(value, values.at(-1) ?? value) }));
}

/** Bars, one per label, with the series on top of each other. */
export function BarChart(props: ChartProps): VNode {
  const { labels, series } = props;
  const totals = labels.map((_, index) => sum(series.map(({ values }) => values[index] ?? 0)));
  const y = verticalScale(Math.max(...totals, 0));
  const { step, centerOf } = placesOf(labels, valueTicks(y, props));
  const sums = labels.map(() => 0);
  const heights = labels.map(() => 0);
  // All bars begin at the floor, and lower ones cover higher ones. One path per series, and positions that count the labels,
  // are a tenth of the size of one element per bar.
  const bars = series.map(({ label, tone, values, outcome }) => {
    const path = labels.map((_, index) => {
      const value = values[index] ?? 0;
      if (value === 0) return '';
      sums[index] = (sums[index] ?? 0) + value;
      // A value that is too small for its height is still seen.
      heights[index] = Math.max(Math.round(FLOOR - y(sums[index])), (heights[index] ?? 0) + 1);
      return `M${index} 0V${heights[index]}`;
    });
    return <path key={label} class={`stroke-${tone}`} data-outcome={outcome} d={path.join('')} />;
  });
  return (
    <Chart {...props} y={y}>
      <g class="bars" transform={`translate(${centerOf(0)} ${FLOOR}) scale(${step.toFixed(3)} -1)`}>
        {bars.toReversed()}
      </g>
    </Chart>
  );
}

/** Lines, one per series, which are interrupted where a value is missing. */
export function LineChart(props: ChartProps): VNode {
  const { labels } = props;
  const y = verticalScale(
    Math.max(...props.series.flatMap(({ values }) => values.map((value) => value ?? 0)), 0),
  );
  const { centerOf } = placesOf(labels, valueTicks(y, props));
  return (
    <Chart {...props} y={y}>
      {props.series.map(({ label, tone, values }) => {
        const path = line<number | null>()
          .defined((value) => value !== null)
          .x((_value, index) => centerOf(index))
          .y((value) => round(y(value ?? 0)))([...values]);
        // A value between two missing ones has no line.
        const points = values.flatMap((value, index) => {
          const isAlone = (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null;
          return value === null || !isAlone ? [] : [{ value, x: centerOf(index) }];
        });
        return (
          <g key={label} class={`stroke-${tone}`}>
            <path d={path ?? ''} />
            {points.map((point) => (
              <circle key={point.x} cx={point.x} cy={round(y(point.value))} r={1.5} />
            ))}
          </g>
        );
      })}
    </Chart>
  );
}

interface SegmentedBarProps extends Pick<ChartProps, 'title'> {
  /** At most five. */
  readonly segments: readonly { readonly label: string; readonly value: number }[];
  readonly format: (value: number) => string;
}

/** One bar that is divided into parts, such as the phases of a request. The legend has the values. */
export function SegmentedBar({ title, segments, format }: SegmentedBarProps): VNode {
  const total = sum(segments.map(({ value }) => value)) || 1;
  const starts = segments.map((_, index) => sum(segments.slice(0, index).map(({ value }) => value)));
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <svg viewBox="0 0 640 24" preserveAspectRatio="none" class="segments" aria-hidden="true">
        {segments.map(({ label, value }, index) => (
          <rect
            key={label}
            class={`segment-${index + 1}`}
            x={round(((starts[index] ?? 0) / total) * 640)}
            width={round((value / total) * 640)}
            height={24}
          />
        ))}
      </svg>
      <Legend
        entries={segments.map(({ label, value }, index) => [
          `segment-${index + 1}`,
          `${label}: ${format(value)}`,
        ])}
      />
    </figure>
  );
}

interface SparklineProps {
  /** The things that are counted, such as `sent`, and the period. */
  readonly things: readonly [succeeded: string, period: string];
  readonly succeeded: readonly number[];
  readonly failed: readonly number[];
  /** The number of failed ones that were rejected, such as requests with a status of 4xx. Absent if there are none. */
  readonly rejected?: readonly number[];
}

/** The height of a sparkline. More steps could hardly be seen, and would make the page larger. */
const SPARK = 10;

/** Bars as small as a word, for a row of a table. The failed ones are at the bottom, where they are seen first. */
export function Sparkline({ things: [verb, period], succeeded, failed, rejected }: SparklineProps): VNode {
  const lows = inPairs(failed);
  const totals = inPairs(succeeded).map((value, index) => value + (lows[index] ?? 0));
  const highest = Math.max(...totals, 1);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${totals.length} ${SPARK}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${inDigits(sum(succeeded))} ${verb}, ${inDigits(sum(failed))} failed in ${period}`}
    >
      <path class="fill-good" d={outlineOf(totals, highest)} />
      {rejected ? <path class="fill-warn" d={outlineOf(lows, highest)} /> : null}
      <path
        class="fill-bad"
        d={outlineOf(rejected ? inPairs(unrejected(failed, rejected)) : lows, highest)}
      />
    </svg>
  );
}

/** Returns how many of the failed ones were not rejected, at each position. */
function unrejected(failed: readonly number[], rejected: readonly number[]): readonly number[] {
  return failed.map((value, index) => value - (rejected[index] ?? 0));
}

/** The bars of more values would be two pixels wide. */
const MAX_SPARKS = 30;

/** Adds neighbors if there are many values. */
function inPairs(values: readonly number[]): readonly number[] {
  if (values.length <= MAX_SPARKS) return values;
  return values.flatMap((value, index) => (index % 2 === 0 ? [value + (values[index + 1] ?? 0)] : []));
}

/** Returns the outline of bars without gaps. Neighbors of the same height are one bar, so that dozens of lists stay small. */
function outlineOf(values: readonly number[], highest: number): string {
  const tops = values.map((value) =>
    value === 0 ? SPARK : Math.min(Math.round(SPARK - (value / highest) * SPARK), SPARK - 1),
  );
  const bars = tops.map((top, index) => {
    if (top === tops[index - 1]) return '';
    const next = tops.findIndex((each, position) => position > index && each !== top);
    return `V${top}H${next === -1 ? tops.length : next}`;
  });
  return tops.every((top) => top === SPARK) ? '' : `M0 ${SPARK}${bars.join('')}V${SPARK}z`;
}

/** The counts from `start` until `end`. */
export interface HistogramPoint {
  readonly start: Date;
  readonly end: Date;
  readonly succeeded: number;
  readonly failed: number;
  /** The number of failed ones that were rejected. */
  readonly rejected?: number;
}

const HISTOGRAM_HEIGHT = 40;

/**
 * Low bars above a list, each of which leads to the rows of its time. A script lets users drag a period. They are not reached with
 * the keyboard, which would pass dozens of them: the fields of the period do the same.
 *
 * @param props.things what is counted, in the singular and the plural
 */
export function Histogram(props: {
  readonly points: readonly HistogramPoint[];
  readonly things: readonly [one: string, many: string];
}): VNode | null {
  const { points } = props;
  const [one, many] = props.things;
  const { path, query, timeZone } = usePage();
  const highest = Math.max(...points.map(({ succeeded, failed }) => succeeded + failed), 0);
  const [first, last] = [points[0], points.at(-1)];
  if (highest === 0 || !first || !last) return null;
  const heightOf = (value: number): number =>
    value === 0 ? 0 : Math.max(Math.round((value / highest) * HISTOGRAM_HEIGHT), 2);
  const at = (time: Date): string => `${localDay(time, timeZone)} ${localClock(time, timeZone).slice(0, 5)}`;
  const changes = {
    period: undefined,
    cursor: undefined,
    trail: undefined,
    live: undefined,
    zone: undefined,
  };
  return (
    <div class="histogram">
      <svg
        viewBox={`0 0 ${points.length} ${HISTOGRAM_HEIGHT}`}
        preserveAspectRatio="none"
        role="group"
        aria-label={`The ${many} by time`}
        data-list={pathWith(path, query, { ...changes, start: undefined, end: undefined })}
        data-start={first.start.getTime()}
        data-step={first.end.getTime() - first.start.getTime()}
        data-end={last.end.getTime()}
      >
        {points.map(({ start, end, succeeded, failed, rejected = 0 }, index) => {
          const bars = [
            ['good', succeeded + failed, succeeded],
            ['warn', failed, rejected],
            ['bad', failed - rejected, failed - rejected],
          ] as const;
          const total = heightOf(succeeded + failed);
          if (total === 0) return null;
          const bounds = { start: minuteOf(start), end: minuteOf(end) };
          return (
            <a key={index} href={pathWith(path, query, { ...changes, ...bounds })} tabindex={-1}>
              <title>{`${at(start)}: ${inDigits(succeeded + failed)} ${succeeded + failed === 1 ? one : many}${failed > 0 ? `, ${inDigits(failed)} failed` : ''}`}</title>
              <path class="hit" d={`M${index} 0h1v${HISTOGRAM_HEIGHT}h-1z`} />
              {bars.map(([tone, top, part]) => {
                const height = heightOf(top);
                return part === 0 ? null : (
                  <path
                    key={tone}
                    class={`fill-${tone}`}
                    d={`M${index} ${HISTOGRAM_HEIGHT}v-${height}h.85v${height}z`}
                  />
                );
              })}
            </a>
          );
        })}
        <rect class="dragged" height={HISTOGRAM_HEIGHT} width={0} />
      </svg>
      <p class="ends" aria-hidden="true">
        <span>{at(first.start)}</span>
        <span>{at(last.end)}</span>
      </p>
    </div>
  );
}

/** Returns a time to the minute, as the fields of a period accept it; a time that is not a whole minute is returned in full. */
function minuteOf(time: Date): string {
  const text = time.toISOString();
  return text.endsWith(':00.000Z') ? text.slice(0, 16) : text;
}

type Scale = ReturnType<typeof verticalScale>;

function verticalScale(maximum: number) {
  return scaleLinear([0, maximum || 1], [FLOOR, MARGIN.top]).nice(4);
}

interface FrameProps extends ChartProps {
  readonly y: Scale;
  readonly children: ComponentChildren;
}

/**
 * Axes, legend, and the same values as a table, which everyone can open and screen readers can read. A script shows the values of
 * the table in the chart, and opens its links: the same links in both would not fit in a page of limited size.
 */
function Chart(props: FrameProps): VNode {
  const { title, labels, series, format = inDigits, pathOf, y, children } = props;
  const ticks = ticksOf(labels);
  const values = valueTicks(y, props);
  const { left, centerOf } = placesOf(labels, values);
  const { timeZone } = usePage();
  return (
    <figure class="chart">
      <figcaption>
        <span>
          {title} <span class="zone">{timeZone}</span>
        </span>
        <Legend entries={series.map(({ label, tone }) => [`fill-${tone}`, label])} />
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="group"
        aria-label={`${title}. The table below has the values${pathOf ? ' and links to their entries' : ''}.`}
        tabindex={0}
        data-from={left}
        data-to={WIDTH - MARGIN.right}
      >
        <g class="axis" aria-hidden="true">
          {values.map(({ value, text }) => (
            <g key={value}>
              <line x1={left} x2={WIDTH - MARGIN.right} y1={round(y(value))} y2={round(y(value))} />
              <text class="value" x={left - 6} y={round(y(value)) + 4}>
                {text}
              </text>
            </g>
          ))}
          {labels.map((label, index) =>
            ticks.has(index) ? (
              <text key={label} class="label" x={centerOf(index)} y={HEIGHT - 2}>
                {ticks.get(index)}
              </text>
            ) : null,
          )}
        </g>
        {children}
        <Reading left={left} />
      </svg>
      <details>
        <summary>
          Show as a table<span class="unseen">{`: ${title}`}</span>
        </summary>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">{`Time (${timeZone})`}</th>
              {series.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((label, index) => (
              <tr key={label}>
                <th>
                  {pathOf && series.some(({ values }) => values[index]) ? (
                    <a href={pathOf(index)}>{label}</a>
                  ) : (
                    label
                  )}
                </th>
                {series.map(({ label: name, values }) => {
                  const value = values[index] ?? null;
                  return <td key={name}>{value === null ? 'none' : format(value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/**
 * Returns what the axis shows, by the positions of the labels: the dates, where days begin, or about six times that include
 * midnight.
 */
function ticksOf(labels: readonly string[]): ReadonlyMap<number, string> {
  const days = labels.map((label) => /^\d\d-\d\d /.test(label) && label.slice(0, label.indexOf(' ')));
  const newDays = days.flatMap((day, index) =>
    day && index > 0 && day !== days[index - 1] ? [[index, day] as const] : [],
  );
  if (newDays.length > 1) return new Map(newDays);
  const every = Math.ceil(labels.length / 6);
  const first = Math.max(labels.indexOf('00:00'), 0) % every;
  return new Map([...labels.entries()].filter(([index]) => index % every === first));
}

/** Where the script shows the values of the time at the pointer, or of the times that the arrow keys reach. */
function Reading({ left }: Pick<Places, 'left'>): VNode {
  return (
    <g class="reading">
      <line y1={MARGIN.top} y2={FLOOR} />
      <text x={left} y={BASELINE} aria-live="polite" />
    </g>
  );
}

function Legend({
  entries,
}: {
  readonly entries: readonly (readonly [color: string, text: string])[];
}): VNode {
  return (
    <ul class="legend">
      {entries.map(([color, text]) => (
        <li key={text}>
          <svg class={color} viewBox="0 0 10 10" aria-hidden="true">
            <rect width="10" height="10" />
          </svg>
          {text}
        </li>
      ))}
    </ul>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Tenths of a unit are finer than a pixel. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}
