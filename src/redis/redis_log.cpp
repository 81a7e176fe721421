// SPDX-License-Identifier: MIT
#include "redis_log.hpp"

#include "../shared/refusal_text.hpp"

#include <handlepool/detail/base/throw_exception.hpp>
#include <handlepool/detail/text/text.hpp>

#include <charconv>
#include <span>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace handlepool::detail {

namespace {

// What changes the log. The server runs each as a whole: nothing comes between a comparison and what depends
// on it. KEYS are the log, the lease, the frames, and for some a snapshot.

// If nobody has the lease, and the log ends there: frame, history, holder, milliseconds, a random text. The
// answer has frame and layout of the snapshot, if followers can begin with it, and go on: all of it is there,
// and so is the entry of its frame, with all behind it. One of frame 0 has none: that of frame 1 comes first.
constexpr std::string_view take_script = R"(
    if redis.call('EXISTS', KEYS[2]) == 1 then return {'held'} end
    local log = redis.call('HMGET', KEYS[1], 'frame', 'history')
    if (log[1] or '') ~= ARGV[1] or (log[2] or '') ~= ARGV[2] then return {'other'} end
    local token = string.format('%d', redis.call('HINCRBY', KEYS[1], 'token', 1))
    local id = token .. '-' .. ARGV[5]
    redis.call('SET', KEYS[2], id, 'PX', ARGV[4])
    redis.call('HSET', KEYS[1], 'lease', id, 'holder', ARGV[3], 'connection', '0')
    local snapshot = redis.call('HMGET', KEYS[1], 'snapshot', 'snapshot_bytes', 'snapshot_frame', 'snapshot_layout')
    local frame = snapshot[3]
    local leads_on = snapshot[1] and snapshot[4] and redis.call('STRLEN', snapshot[1]) == tonumber(snapshot[2])
    if leads_on and frame ~= ARGV[1] then
        local entry = (frame == '0' and '1' or frame) .. '-0'
        leads_on = #redis.call('XRANGE', KEYS[3], entry, entry) ~= 0
    end
    return {'done', token, id, leads_on and frame or '', leads_on and snapshot[4] or ''}
)";

// How all others begin, whose first arguments are the id of the lease, how many milliseconds it lives, and
// the number of the holder's connection: what it has sent by an earlier one can come late, when it has long
// sent it again, and gone on.
constexpr std::string_view as_holder = R"(
    local log = redis.call('HMGET', KEYS[1], 'lease', 'frame', 'history', 'snapshot', 'snapshot_frame',
        'connection', 'token')
    if not log[1] and log[7] == string.match(ARGV[1], '^%d+') then return {'released', ''} end
    if log[1] ~= ARGV[1] then return {'fenced', log[1] or ''} end
    if tonumber(ARGV[3]) < tonumber(log[6]) then return {'fenced', log[1] .. ' of a later connection'} end
    redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
    redis.call('HSET', KEYS[1], 'connection', ARGV[3])
)";

// A frame and its history before, the same after, and the delta between.
constexpr std::string_view append_script = R"(
    if log[2] == ARGV[6] and log[3] == ARGV[7] then return {'done', ''} end
    if log[2] ~= ARGV[4] or log[3] ~= ARGV[5] then return {'other', log[2] or ''} end
    redis.call('XADD', KEYS[3], ARGV[6] .. '-0', 'history', ARGV[7], 'delta', ARGV[8])
    redis.call('HSET', KEYS[1], 'frame', ARGV[6], 'history', ARGV[7])
    return {'done', ''}
)";

constexpr std::string_view renew_script = R"(
    return {'done', ''}
)";

// An offset and a piece: one that is sent twice is there once. The server forgets the key in a minute, if no
// other piece comes.
constexpr std::string_view store_script = R"(
    if redis.call('STRLEN', KEYS[4]) < tonumber(ARGV[4]) then return {'lost', ''} end
    redis.call('SETRANGE', KEYS[4], ARGV[4], ARGV[5])
    redis.call('EXPIRE', KEYS[4], 60)
    return {'done', ''}
)";

// A frame and its history, how many bytes there are, the layout, and the frame and history where the log
// ends. If these are empty, it begins with the snapshot: then followers that wait are woken by an entry which
// leads on from nothing. Somebody may be reading the snapshot before, so it stays for a minute, with its
// deltas; those before it go.
constexpr std::string_view publish_script = R"(
    if log[4] == KEYS[4] then return {'done', ''} end
    local begins = ARGV[8] == ''
    if not begins and (log[2] ~= ARGV[8] or log[3] ~= ARGV[9]) then return {'other', log[2] or ''} end
    if redis.call('STRLEN', KEYS[4]) ~= tonumber(ARGV[6]) then return {'lost', ''} end
    redis.call('PERSIST', KEYS[4])
    if log[4] then redis.call('EXPIRE', log[4], 60) end
    redis.call('HSET', KEYS[1], 'snapshot', KEYS[4], 'snapshot_bytes', ARGV[6],
        'snapshot_frame', ARGV[4], 'snapshot_history', ARGV[5], 'snapshot_layout', ARGV[7])
    if begins then
        redis.call('DEL', KEYS[3])
        if ARGV[4] ~= '0' then redis.call('XADD', KEYS[3], ARGV[4] .. '-0', 'history', ARGV[5], 'delta', '') end
        redis.call('HSET', KEYS[1], 'frame', ARGV[4], 'history', ARGV[5])
    elseif log[5] then
        redis.call('XTRIM', KEYS[3], 'MINID', log[5] .. '-1')
    end
    return {'done', ''}
)";

constexpr std::string_view release_script = R"(
    redis.call('DEL', KEYS[2])
    redis.call('HDEL', KEYS[1], 'lease')
    return {'done', ''}
)";

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr std::size_t longest_name = 255;

std::string text_of(std::uint64_t number) {
    return std::to_string(number);
}

std::optional<std::uint64_t> number_in(std::string_view text, int base = 10) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return number;
}

void append_bytes(std::vector<std::byte>& to, std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

} // namespace

redis_log::redis_log(redis_address address, std::string_view name) : address_(std::move(address)) {
    if (name.empty() || name.find_first_of("{}") != std::string_view::npos) {
        throw_exception(std::invalid_argument("the name of a log is '" + printable(name) +
                                              "'; it may have no braces, and not be empty"));
    }
    if (name.size() > longest_name) {
        throw_exception(std::invalid_argument("the name of a log has " + std::to_string(name.size()) +
                                              " bytes; 1 to " + std::to_string(longest_name) +
                                              " are allowed"));
    }
    if (!is_allowed(address_.timeout)) {
        throw_exception(std::invalid_argument("the time of an address is " +
                                              std::to_string(address_.timeout.count()) + " milliseconds; " +
                                              std::string(allowed_times)));
    }
    prefix_ = '{';
    prefix_ += name;
    prefix_ += "}:";
    log_ = prefix_ + "log";
    lease_ = prefix_ + "lease";
    frames_ = prefix_ + "frames";
}

std::optional<frame_position> redis_log::end() {
    const redis_reply reply = call({"HMGET", log_, "frame", "history"});
    if (reply.list.size() != 2) {
        refuse_content("no list of 2 values");
    }
    if (reply.list[0].type == redis_reply::kind::none) {
        return std::nullopt;
    }
    const auto frame = number_in(reply.list[0].text);
    const auto history = number_in(reply.list[1].text, 16);
    if (!frame || !history) {
        refuse_content("no frame and history");
    }
    return frame_position{.frame = *frame, .history = *history};
}

std::optional<stored_snapshot> redis_log::snapshot() {
    const redis_reply reply =
        call({"HMGET", log_, "snapshot", "snapshot_bytes", "snapshot_frame", "snapshot_history"});
    if (reply.list.size() != 4) {
        refuse_content("no list of 4 values");
    }
    if (reply.list[0].type == redis_reply::kind::none) {
        return std::nullopt;
    }
    const auto bytes = number_in(reply.list[1].text);
    const auto frame = number_in(reply.list[2].text);
    const auto history = number_in(reply.list[3].text, 16);
    if (!bytes || !frame || !history) {
        refuse_content("no size, frame and history of a snapshot");
    }
    return stored_snapshot{
        .key = reply.list[0].text, .bytes = *bytes, .position = {.frame = *frame, .history = *history}};
}

std::optional<std::vector<std::byte>> redis_log::read(const stored_snapshot& snapshot) {
    std::vector<std::byte> bytes;
    while (bytes.size() < snapshot.bytes) {
        const std::string first = text_of(bytes.size());
        const std::string last = text_of(bytes.size() + piece_bytes - 1);
        const redis_reply reply = call({"GETRANGE", snapshot.key, first, last}, piece_bytes);
        if (reply.text.empty() || reply.text.size() > snapshot.bytes - bytes.size()) {
            return std::nullopt; // another one has taken its place, and it is gone
        }
        append_bytes(bytes, reply.text);
    }
    return bytes;
}

std::optional<logged_delta> redis_log::delta_behind(std::uint64_t frame, std::size_t most_bytes,
                                                    std::chrono::milliseconds wait) {
    const std::string id = text_of(frame) + "-0";
    const std::string milliseconds = std::to_string(wait.count());
    const redis_reply reply =
        wait.count() > 0
            ? call({"XREAD", "COUNT", "1", "BLOCK", milliseconds, "STREAMS", frames_, id}, most_bytes, wait)
            : call({"XREAD", "COUNT", "1", "STREAMS", frames_, id}, most_bytes);
    if (reply.type == redis_reply::kind::none) {
        return std::nullopt;
    }
    // A list of streams, which are a name and a list of entries, which are an id and a list of fields.
    if (reply.list.size() != 1 || reply.list[0].list.size() != 2 || reply.list[0].list[1].list.size() != 1) {
        refuse_content("no entry of a stream");
    }
    const redis_reply& entry = reply.list[0].list[1].list[0];
    if (entry.list.size() != 2 || entry.list[1].list.size() != 4 || entry.list[1].list[0].text != "history" ||
        entry.list[1].list[2].text != "delta") {
        refuse_content("no history and delta in an entry");
    }
    const std::string_view entry_id = entry.list[0].text;
    const auto entry_frame = number_in(entry_id.substr(0, entry_id.find('-')));
    const auto history = number_in(entry.list[1].list[1].text, 16);
    if (!entry_frame || !history) {
        refuse_content("no frame and history of an entry");
    }
    const std::string& delta = entry.list[1].list[3].text;
    if (delta.size() > most_bytes) {
        refuse_content("the delta of frame " + text_of(*entry_frame) + " has " + text_of(delta.size()) +
                       " bytes; " + text_of(most_bytes) + " are allowed");
    }
    logged_delta read{.position = {.frame = *entry_frame, .history = *history}};
    append_bytes(read.bytes, delta);
    return read;
}

std::optional<redis_lease> redis_log::take(std::optional<frame_position> end, std::string_view holder,
                                           std::chrono::milliseconds time_to_live) {
    const std::string frame = end ? text_of(end->frame) : "";
    const std::string history = end ? text_of_hash(end->history) : "";
    const std::string milliseconds = std::to_string(time_to_live.count());
    const std::string random = text_of_hash(new_history());
    const redis_reply reply =
        call({"EVAL", take_script, "3", log_, lease_, frames_, frame, history, holder, milliseconds, random});
    if (reply.list.empty()) {
        refuse_content("no answer to a claim of the lease");
    }
    if (reply.list[0].text != "done") {
        return std::nullopt;
    }
    const auto token = reply.list.size() == 5 ? number_in(reply.list[1].text) : std::nullopt;
    if (!token) {
        refuse_content("no token of a lease");
    }
    redis_lease lease{.token = *token,
                      .id = reply.list[2].text,
                      .time_to_live = time_to_live,
                      .snapshot_frame = number_in(reply.list[3].text),
                      .snapshot_layout = number_in(reply.list[4].text, 16).value_or(0)};
    if (end) {
        lease.frame = end->frame;
        lease.history = end->history;
    }
    return lease;
}

log_answer redis_log::append(const redis_lease& lease, frame_position before, frame_position after,
                             std::string_view delta) {
    return call_as_holder(append_script, lease, frames_,
                          {text_of(before.frame), text_of_hash(before.history), text_of(after.frame),
                           text_of_hash(after.history), delta});
}

log_answer redis_log::renew(const redis_lease& lease) {
    return call_as_holder(renew_script, lease, frames_, {});
}

log_answer redis_log::store(const redis_lease& lease, const std::string& key, std::uint64_t offset,
                            std::string_view piece) {
    return call_as_holder(store_script, lease, key, {text_of(offset), piece});
}

log_answer redis_log::publish(const redis_lease& lease, const stored_snapshot& snapshot,
                              std::optional<frame_position> end) {
    return call_as_holder(publish_script, lease, snapshot.key,
                          {text_of(snapshot.position.frame), text_of_hash(snapshot.position.history),
                           text_of(snapshot.bytes), text_of_hash(snapshot.layout),
                           end ? text_of(end->frame) : "", end ? text_of_hash(end->history) : ""});
}

log_answer redis_log::release(const redis_lease& lease) {
    return call_as_holder(release_script, lease, frames_, {});
}

std::string redis_log::new_snapshot_key(std::uint64_t frame) const {
    return prefix_ + "snapshot:" + text_of(frame) + ":" + text_of_hash(new_history());
}

log_answer redis_log::call_as_holder(std::string_view script, const redis_lease& lease,
                                     std::string_view snapshot_key,
                                     std::initializer_list<std::string_view> arguments) {
    const std::string whole = std::string(as_holder) + std::string(script);
    const std::string milliseconds = std::to_string(lease.time_to_live.count());
    connect();
    const std::string connection = text_of(connections_);
    std::vector<std::string_view> command{"EVAL",  whole,        "4",      log_,         lease_,
                                          frames_, snapshot_key, lease.id, milliseconds, connection};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const redis_reply reply = call(command, 0);
    if (reply.list.size() != 2) {
        refuse_content("no answer to the holder of a lease");
    }
    const std::string& said = reply.list[0].text;
    return {.type = said == "done"       ? log_answer::kind::done
                    : said == "fenced"   ? log_answer::kind::fenced
                    : said == "released" ? log_answer::kind::released
                    : said == "lost"     ? log_answer::kind::lost
                                         : log_answer::kind::other,
            .text = reply.list[1].text};
}

void redis_log::connect() {
    if (!connection_) {
        connection_.emplace(address_);
        ++connections_;
    }
}

redis_reply redis_log::call(std::span<const std::string_view> command, std::size_t most_bytes,
                            std::chrono::milliseconds later) {
    try {
        connect();
        return connection_->call(command, most_bytes, later);
    } catch (...) {
        connection_.reset();
        throw;
    }
}

void redis_log::refuse_content(std::string_view problem) {
    std::string message = "redis, '" + printable(log_) + "': ";
    message += problem;
    throw_exception(redis_error(message));
}

} // namespace handlepool::detail
