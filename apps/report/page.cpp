#include "apps/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/text/split.h"

namespace deplo::apps::report {
namespace {

// The policy tells the browser to load nothing. The page does not need anything either.
constexpr std::string_view html_head = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
)";
constexpr std::string_view style = R"(
:root{color-scheme:light dark;--ink:#1b1b1b;--paper:#fff;--faint:#e2e2e2;--soft:#5a5a5a}
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#161616;--faint:#3a3a3a;--soft:#a8a8a8}}
body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;padding:12px;max-width:1240px}
h1{font-size:22px;margin:8px 0;overflow-wrap:anywhere}h2{font-size:17px;margin:26px 0 6px;overflow-wrap:anywhere}
p{margin:6px 0;max-width:100ch;overflow-wrap:anywhere}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(340px,100%),1fr));gap:16px;align-items:start;margin:8px 0}
.figure{width:100%;height:auto;max-width:520px}
.key span{display:inline-block;margin:0 14px 4px 0}.key svg{width:26px;height:10px;vertical-align:middle;margin-right:5px}
.scroll{overflow-x:auto;margin:8px 0}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:3px 8px;text-align:right;border-bottom:1px solid var(--faint);white-space:nowrap}
th:first-child,td:first-child,.text{text-align:left}td.text{white-space:normal;min-width:18em;max-width:60ch;overflow-wrap:anywhere}
details{margin:8px 0}summary{cursor:pointer}summary h2{display:inline}
pre{overflow-x:auto;background:var(--faint);padding:8px;font-size:12px;line-height:1.35}
)";

}  // namespace

Page::Page(std::string title) : title_(std::move(title)) {}

void Page::end_section() { body_ += std::exchange(open_, ""); }

void Page::section(std::string_view title, bool folded) {
  end_section();
  body_ += folded ? "<details><summary>" : "<section>";
  body_ += fmt::format("<h2>{}</h2>{}\n", escape(title), folded ? "</summary>" : "");
  open_ = folded ? "</details>\n" : "</section>\n";
}

void Page::text(std::string_view text) { body_ += fmt::format("<p>{}</p>\n", escape(text)); }

void Page::table(const HtmlTable& table) {
  const auto row = [&](const std::vector<std::string>& cells, const char* tag) {
    body_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool text = std::ranges::find(table.texts, i) != table.texts.end();
      body_ += fmt::format("<{0}{1}>{2}</{0}>", tag, text ? " class=\"text\"" : "", escape(cells[i]));
    }
    body_ += "</tr>\n";
  };
  body_ += "<div class=\"scroll\" tabindex=\"0\"><table>";  // tabindex: keys can scroll it, too
  row(table.heads, "th");
  for (const auto& cells : table.rows) row(cells, "td");
  body_ += "</table></div>\n";
}

void Page::key(const std::vector<std::string>& labels) {
  body_ += "<p class=\"key\">";
  for (std::size_t i = 0; i < labels.size(); ++i)
    body_ += fmt::format(
        "<span><svg viewBox=\"0 0 26 10\" aria-hidden=\"true\"><line x1=\"0\" x2=\"26\" y1=\"5\" y2=\"5\" "
        "stroke=\"{}\" stroke-width=\"3\" stroke-dasharray=\"{}\"/></svg>{}</span>",
        colour(i), dash(i), escape(labels[i]));
  body_ += "</p>\n";
}

void Page::plots(std::string_view subject, std::vector<Figure> figures) {
  if (figures.empty()) return;
  body_ += "<div class=\"plots\">\n";
  for (Figure& figure : figures) {
    body_ += inline_svg(figure) + "\n";
    plots_.push_back({std::string(subject), std::move(figure)});
  }
  body_ += "</div>\n";
}

void Page::listing(std::string_view title, std::string_view text) {
  std::string lines;
  for (const std::string_view line : lines_of(text))  // because escape() replaces line ends by blanks
    lines += escape(line) + "\n";
  body_ += fmt::format("<details><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>\n", escape(title), lines);
}

void Page::append(Page&& other) {
  end_section();
  body_ += other.body_;
  open_ = other.open_;
  std::ranges::move(other.plots_, std::back_inserter(plots_));
}

std::string Page::html() const {
  return fmt::format("{}<title>{}</title><style>{}{}</style></head><body>\n<h1>{}</h1>\n{}{}</body></html>\n",
                     html_head, escape(title_), style, figure_style, escape(title_), body_, open_);
}

}  // namespace deplo::apps::report
