import { scaleBand, scaleLinear, scalePoint } from 'd3-scale';
import { line } from 'd3-shape';
import type { ComponentChildren, VNode } from 'preact';
import { usePage } from '../page.js';
import type { Tone } from './elements.js';

interface Series {
  readonly label: string;
  readonly tone: Tone;
  /** One value per label of the chart; null where there is none. */
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly title: string;
  /** The labels of the horizontal axis, all different, such as times. */
  readonly labels: readonly string[];
  readonly series: readonly Series[];
  /** The page about the entries of a label, by its position. Bars with a value lead there. */
  readonly pathOf?: (index: number) => string;
  /** Formats a value. Defaults to a number with separators. */
  readonly format?: (value: number) => string;
}

const [WIDTH, HEIGHT] = [480, 190];
const MARGIN = { top: 26, right: 24, bottom: 22, left: 76 };
/** Of the values above a chart. */
const BASELINE = 14;
const NUMBER = new Intl.NumberFormat('en');
const formatNumber = (value: number): string => NUMBER.format(value);

/** Bars, one per label, with the series on top of each other. */
export function BarChart(props: ChartProps): VNode {
  const totals = props.labels.map((_, index) => sum(props.series.map(({ values }) => values[index] ?? 0)));
  const x = scaleBand<string>([...props.labels], [MARGIN.left, WIDTH - MARGIN.right]).padding(0.2);
  const y = verticalScale(Math.max(...totals, 0));
  // One path per series is a fifth of the size of one element per bar.
  const bars = props.series.map(({ label: name, tone, values }, position) => {
    const below = props.series.slice(0, position);
    const path = props.labels.map((label, index) => {
      const value = values[index] ?? 0;
      const base = sum(below.map((each) => each.values[index] ?? 0));
      const [top, bottom] = [round(y(base + value)), round(y(base))];
      const left = round(x(label) ?? 0);
      return value === 0 ? '' : `M${left} ${top}h${round(x.bandwidth())}V${bottom}H${left}z`;
    });
    return <path key={name} class={`fill-${tone}`} d={path.join('')} />;
  });
  return (
    <Chart {...props} y={y} xOf={(label) => (x(label) ?? 0) + x.bandwidth() / 2}>
      {bars}
    </Chart>
  );
}

/** Lines, one per series, which are interrupted where a value is missing. */
export function LineChart(props: ChartProps): VNode {
  const x = scalePoint<string>([...props.labels], [MARGIN.left, WIDTH - MARGIN.right]).padding(0.5);
  const y = verticalScale(
    Math.max(...props.series.flatMap(({ values }) => values.map((value) => value ?? 0)), 0),
  );
  const xOf = (label: string): number => x(label) ?? 0;
  return (
    <Chart {...props} y={y} xOf={xOf}>
      {props.series.map(({ label, tone, values }) => {
        const path = line<number | null>()
          .defined((value) => value !== null)
          .x((_value, index) => round(xOf(props.labels[index] ?? '')))
          .y((value) => round(y(value ?? 0)))([...values]);
        // A value between two missing ones has no line.
        const points = values.flatMap((value, index) => {
          const isAlone = (values[index - 1] ?? null) === null && (values[index + 1] ?? null) === null;
          return value === null || !isAlone ? [] : [{ value, x: round(xOf(props.labels[index] ?? '')) }];
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
  /** What is counted, such as `sent`, and in which period. */
  readonly things: readonly [succeeded: string, period: string];
  readonly succeeded: readonly number[];
  readonly failed: readonly number[];
}

/** Bars as small as a word, for a row of a table. The failed ones are at the bottom, where they are seen first. */
export function Sparkline({ things: [verb, period], succeeded, failed }: SparklineProps): VNode {
  const width = succeeded.length * 2;
  const highest = Math.max(...succeeded.map((value, index) => value + (failed[index] ?? 0)), 1);
  const y = (value: number): number => (value === 0 ? 20 : Math.min(round(20 - (value / highest) * 20), 18));
  const bars = (values: readonly number[], topOf: (index: number) => number): string =>
    values.map((value, index) => (value === 0 ? '' : `M${index * 2 + 1} ${topOf(index)}V20`)).join('');
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${width} 20`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${formatNumber(sum(succeeded))} ${verb}, ${formatNumber(sum(failed))} failed in ${period}`}
    >
      <path
        class="stroke-good"
        d={bars(succeeded, (index) => y((succeeded[index] ?? 0) + (failed[index] ?? 0)))}
      />
      <path class="stroke-bad" d={bars(failed, (index) => y(failed[index] ?? 0))} />
    </svg>
  );
}

type Scale = ReturnType<typeof verticalScale>;

function verticalScale(maximum: number) {
  return scaleLinear([0, maximum || 1], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
}

interface FrameProps extends ChartProps {
  readonly y: Scale;
  readonly xOf: (label: string) => number;
  readonly children: ComponentChildren;
}

/** Axes, legend, and the same values as a table, which everyone can open and screen readers can read. */
function Chart({
  title,
  labels,
  series,
  format = formatNumber,
  pathOf,
  y,
  xOf,
  children,
}: FrameProps): VNode {
  const ticks = ticksOf(labels);
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
        aria-label={`${title}. The table below has the values.`}
        {...(pathOf ? {} : READABLE)}
      >
        <g class="axis" aria-hidden="true">
          {y.ticks(4).map((tick) => (
            <g key={tick}>
              <line x1={MARGIN.left} x2={WIDTH - MARGIN.right} y1={round(y(tick))} y2={round(y(tick))} />
              <text class="value" x={MARGIN.left - 6} y={round(y(tick)) + 4}>
                {format(tick)}
              </text>
            </g>
          ))}
          {labels.map((label, index) =>
            ticks.has(index) ? (
              <text key={label} class="label" x={round(xOf(label))} y={HEIGHT - 4}>
                {ticks.get(index)}
              </text>
            ) : null,
          )}
        </g>
        {children}
        {pathOf ? <Values {...{ labels, series, format, pathOf, xOf }} /> : <Reading />}
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
                <th scope="row">{label}</th>
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

type ValuesProps = Required<Pick<FrameProps, 'labels' | 'series' | 'format' | 'xOf' | 'pathOf'>>;

/** Links to the entries of each label, whose values appear while the pointer or the focus is there. */
function Values({ labels, series, format, pathOf, xOf }: ValuesProps): VNode {
  const width = round((WIDTH - MARGIN.left - MARGIN.right) / labels.length);
  const height = HEIGHT - BASELINE;
  // Short attributes: there are dozens of links in a page of limited size.
  return (
    <g class="values" transform={`translate(${MARGIN.left} ${BASELINE})`}>
      {labels.map((label, index) => {
        const values = series
          .filter((each) => each.values[index])
          .map((each) => `${each.label}: ${format(each.values[index] ?? 0)}`);
        if (values.length === 0) return null;
        return (
          <a key={label} href={pathOf(index)}>
            <rect x={round(xOf(label) - width / 2 - MARGIN.left)} width={width} height={height} />
            <text>{`${label} ${values.join(', ')}`}</text>
          </a>
        );
      })}
    </g>
  );
}

/** What a script needs to show values: dozens of elements with them would not fit in a page of limited size. */
const READABLE = { tabindex: 0, 'data-from': MARGIN.left, 'data-to': WIDTH - MARGIN.right };

/** Where the script shows the values of the time at the pointer, or of the times that the arrow keys reach. */
function Reading(): VNode {
  return (
    <g class="reading">
      <line y1={MARGIN.top} y2={HEIGHT - MARGIN.bottom} />
      <text x={MARGIN.left} y={BASELINE} aria-live="polite" />
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
