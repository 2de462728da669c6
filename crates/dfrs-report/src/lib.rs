//! What the reports of `dfrs` are made of: charts as SVG, tables, and pages of HTML.
//!
//! A page needs nothing but itself: no script, no font, no picture from elsewhere, so that it can
//! be sent by mail, opened in ten years and printed. Everything is deterministic: the same data
//! give the same bytes. All text is escaped; nothing that a trace or a cluster names can become
//! markup.
//!
//! - [`Chart`]: lines, steps, areas and points over two axes, linear or logarithmic.
//! - [`Bars`]: horizontal bars in groups.
//! - [`Gantt`]: what runs when and where.
//! - [`Table`], with [`compared`] for a published value beside a reproduced one.
//! - [`Page`]: text, tables and charts as one file.
#![forbid(unsafe_code)]

mod axis;
mod bars;
mod chart;
mod gantt;
mod number;
mod page;
mod svg;
mod table;
mod text;

pub use axis::{Axis, Scale};
pub use bars::Bars;
pub use chart::{Chart, Series, Style};
pub use gantt::{Gantt, GanttBar};
pub use number::{decimals, percent, significant};
pub use page::Page;
pub use table::{Agreement, Cell, Table, compared};
pub use text::{csv_line, escape};
